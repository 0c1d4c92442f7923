"""Permission: may a call run? Its review, a person's answer, the run's limits, in this order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..core import PROCEED, Capability, Decision, Review, Step
from .approvals import Approvals, WaitingCall
from .decision_pipeline import DecisionPipeline
from .fail_open import Guard, PartFailed
from .limit_enforcer import LimitEnforcer
from .open_calls import OpenCalls
from .review_and_observe import Observation, review_and_observe
from .review_decision import decide_call
from .run import Run

if TYPE_CHECKING:
    from .model_judge import Judge

APPROVED = 0.6
"""The risk of a call that a person has approved, at most."""


class Permission:
    """For one run; the caller holds the supervisor's lock."""

    def __init__(
        self,
        run: Run,
        pipeline: DecisionPipeline,
        guard: Guard,
        limiting: LimitEnforcer,
        approvals: Approvals,
        *,
        observe: bool,
        judge: Judge | None = None,
    ) -> None:
        self._judge = judge
        self._run, self._pipeline, self._guard, self._limiting = run, pipeline, guard, limiting
        self._approvals, self._observe = approvals, observe
        self._reviews: OpenCalls[Review | None] = OpenCalls()
        self._told: dict[int, str] = {}

    def forget(self, step: Step) -> Review | None:
        """A call is over, or its result is there: gives its review."""
        return self._reviews.end(step)

    def withdraw(self, step: Step) -> bool:
        """A step waits no longer; whether it did. Asked about again, it waits again."""
        self._told.pop(step.index, None)
        return self._approvals.withdraw(step.index)

    def wait_for_person(self, step: Step) -> Decision | None:
        """A hold where a person has to answer first. It waits outside the gate: waiting is no iteration."""
        if not self._approvals.needed or self._observe or self._run.gate.status != "running":
            return None
        if self._reviews.get(step) is None:
            try:
                self._reviews.begin(step, self._guard.run(lambda: self._pipeline.review(step)))
            except PartFailed:
                # Its review is tried again behind the gate, where what is broken is answered for.
                return None
        answered = self._check(step, self._reviews.get(step))
        if answered is None or answered.action != "hold":
            return None
        self._tell_once(step.index)
        return answered

    def review_and_observe(self, step: Step, absent: tuple[str, ...] | None) -> Observation:
        """The review of a call, and at once what it leads to where no limit and no person has a say in it."""
        known = self._reviews.get(step)
        if known is not None:
            return Observation(known)
        observe = self._observe
        free = observe or ("read" not in self._approvals.removed and self._limiting.is_free())
        seen = self._guard.run(
            lambda: review_and_observe(self._pipeline, step, absent, free=free, whatever_verdict=observe)
        )
        self._reviews.begin(step, seen.review)
        return seen

    def decide(self, step: Step, review: Review | None, capabilities: frozenset[Capability]) -> Decision:
        """What the person said, then the limits, then the verdict; a call that may continue may still have to wait."""
        if self._observe:
            return PROCEED
        review = self._judged(step, review)
        if "hold" not in capabilities or not self._pipeline.person_reachable:
            # An unattended run does not wait all night for a yes: the verdict holds.
            review = without_asking(review)
        answered = self._check(step, review)
        if answered is not None and answered.action == "hold":
            self._tell_once(step.index)
        if answered is not None:
            return answered
        review = self.settle(step, review)
        used_up = self._limiting.check_spend(reserve=True)
        if used_up is not None:
            return used_up
        return self._limiting.slow_down(decide_call(review, step, capabilities, observe=False))

    def settle(self, step: Step, review: Review | None) -> Review | None:
        """The review after a person has approved what it asked about: a warning."""
        if review is None or not review.ask or not self._approvals.has_approved(step):
            return review
        return replace(review, verdict="warn", risk=min(review.risk, APPROVED), ask=False)

    def _judged(self, step: Step, review: Review | None) -> Review | None:
        """The review with the judge's word on a call that needs approval: it may block, and never allows."""
        if self._judge is None or review is None or not review.ask or self._approvals.has_approved(step):
            return review
        why = self._judge.forbids(step, review, self._run.spec.task)
        return replace(review, verdict="block", reason=f"{review.reason} {why}".strip(), ask=False) if why else review

    def _check(self, step: Step, review: Review | None) -> Decision | None:
        """What a person says; a question without an answer in time is withdrawn."""
        waited = self._approvals.call(step.index) is not None
        answered = self._approvals.check(step, review)
        if waited and self._approvals.call(step.index) is None:
            self._guard.part("journal", self._run.stop_waiting, None, step.index, self._approvals.next_waiting)
        return answered

    def _tell_once(self, step: int) -> None:
        call = self._approvals.call(step)
        told = call is None or self._told.get(step) == call.digest
        if not told and call is not None and self._guard.part("journal", self._tell, False, step, call):
            self._told[step] = call.digest

    def _tell(self, step: int, call: WaitingCall) -> bool:
        """Announce that a step waits; what could not be recorded is announced again when it asks again."""
        self._run.wait_for_person(step, call.what, call.digest, call.until)
        return True


def without_asking(review: Review | None) -> Review | None:
    """The review if no person can be asked: its verdict holds."""
    return replace(review, ask=False) if review is not None and review.ask else review
