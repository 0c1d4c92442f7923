"""Permission: decides whether a call may run: review, person, limits, then the verdict."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from ..core import PROCEED, Capability, Decision, DecisionAction, Message, MessageMeta, Review, Step
from .approvals import Approvals, WaitingCall
from .checkpointing import may_change
from .decision_pipeline import DecisionPipeline
from .fail_open import Guard, PartFailed
from .limit_enforcer import LimitEnforcer
from .open_calls import OpenCalls
from .pipeline_values import StepOutcome
from .run import Run

APPROVED = 0.6
"""Upper bound on the risk of a call that a person has approved."""


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
    ) -> None:
        self._run, self._pipeline, self._guard, self._limiting = run, pipeline, guard, limiting
        self._approvals, self._observe = approvals, observe
        self._reviews: OpenCalls[Review | None] = OpenCalls()
        self._announced: dict[int, str] = {}

    def forget(self, step: Step) -> Review | None:
        """Forget a finished call; returns its review."""
        return self._reviews.end(step)

    def withdraw(self, step: Step) -> bool:
        """Stop waiting for approval of a step; returns whether it was waiting. If it asks again, it waits again."""
        self._announced.pop(step.index, None)
        return self._approvals.withdraw(step.index)

    def wait_for_person(self, step: Step) -> Decision | None:
        """A hold if a person has to answer first. Happens before the gate, so that it is not counted as iteration."""
        if not self._approvals.needed or self._observe or self._run.gate.status != "running":
            return None
        if self._reviews.get(step) is None:
            try:
                self._reviews.begin(step, self._guard.run(lambda: self._pipeline.review(step)))
            except PartFailed:
                # The review is retried after the gate, where failures are handled.
                return None
        answered = self._check(step, self._reviews.get(step))
        if answered is None or answered.action != "hold":
            return None
        self._announce_once(step.index)
        return answered

    def review_whole(self, step: Step, whole: Step) -> None:
        """Review a long call by all of its text; only the beginning and end of it are recorded."""
        if self._reviews.get(step) is None:
            review = self._guard.part("reviewer", lambda: self._pipeline.review(whole), None)
            if review is not None:
                self._reviews.begin(step, review)

    def review_and_observe(self, step: Step, absent: tuple[str, ...] | None) -> Observation:
        """Review a call; also observe it if neither a limit nor a person can stop it."""
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
        """Apply the person's answer, then the limits, then the verdict; an allowed call may still be delayed."""
        if self._observe:
            return PROCEED
        if "hold" not in capabilities or not self._pipeline.person_reachable:
            # An unattended run does not wait for approval: the verdict applies.
            review = without_asking(review)
        answered = self._check(step, review)
        if answered is not None and answered.action == "hold":
            self._announce_once(step.index)
        if answered is not None:
            return answered
        review = self.settle(step, review)
        used_up = self._limiting.check_spend(reserve=True)
        if used_up is not None:
            return used_up
        return self._limiting.slow_down(decide_call(review, step, capabilities, observe=False), step)

    def settle(self, step: Step, review: Review | None) -> Review | None:
        """Turn the review into a warning if a person has approved the call."""
        if review is None or not review.ask or not self._approvals.has_approved(step):
            return review
        return replace(review, verdict="warn", risk=min(review.risk, APPROVED), ask=False)

    def _check(self, step: Step, review: Review | None) -> Decision | None:
        """Apply the person's answer; a request that was not answered in time is withdrawn."""
        waited = self._approvals.call(step.index) is not None
        answered = self._approvals.check(step, review)
        if waited and self._approvals.call(step.index) is None:
            self._guard.part("journal", self._run.stop_waiting, None, step.index, self._approvals.next_waiting)
        return answered

    def _announce_once(self, step: int) -> None:
        call = self._approvals.call(step)
        announced = call is None or self._announced.get(step) == call.digest
        if not announced and call is not None and self._guard.part("journal", self._announce, False, step, call):
            self._announced[step] = call.digest

    def _announce(self, step: int, call: WaitingCall) -> bool:
        """Announce that a step is waiting; if that cannot be recorded, it is announced when the step asks again."""
        self._run.wait_for_person(step, call.what, call.digest, call.until)
        return True


def without_asking(review: Review | None) -> Review | None:
    """The review without asking a person: its verdict applies."""
    return replace(review, ask=False) if review is not None and review.ask else review


def decide_call(review: Review | None, step: Step, capabilities: frozenset[Capability], *, observe: bool) -> Decision:
    """Turn a review into a decision: allow proceeds, warn adds a message, modify rewrites or denies, block denies."""
    if review is None or review.verdict == "allow" or observe:
        return PROCEED
    if review.verdict == "warn":
        return Decision(messages=(_message(review, step),)) if "inject" in capabilities else PROCEED
    if review.verdict == "modify" and review.rewrite is not None and "rewrite" in capabilities:
        return Decision("rewrite", arguments=review.rewrite, reason=refusal(review))
    return degrade(Decision("deny", reason=refusal(review)), capabilities)


def degrade(decision: Decision, capabilities: frozenset[Capability]) -> Decision:
    """The closest action that the adapter supports; if there is none, proceed with a note."""
    action: DecisionAction = decision.action
    while action != "proceed" and action not in capabilities:
        action = FALLBACK[action]
    if action == decision.action:
        return decision
    if action == "proceed":
        return Decision(messages=decision.messages, reason=f"not applied, the adapter cannot {decision.action}")
    return Decision(action, decision.messages, reason=decision.reason)


FALLBACK: dict[DecisionAction, DecisionAction] = {
    "stop": "deny", "defer": "hold", "hold": "deny", "rewrite": "deny", "deny": "proceed",
}  # fmt: skip
"""The fallback for an unsupported action: denying is closest to stopping and to waiting."""


def refusal(review: Review) -> str:
    """The message to the agent, in one or two sentences."""
    rule = f" [{', '.join(review.rules)}]" if review.rules else ""
    instead = f" Instead: {review.instead}" if review.instead else ""
    return f"{review.reason or 'This call was judged too dangerous.'}{rule}{instead}"


def _message(review: Review, step: Step) -> Message:
    meta = MessageMeta(
        intervention="review",
        issue=review.rules[0] if review.rules else "risk",
        time=step.time or 0.0,
        run_id=step.run_id,
        step=step.index,
    )
    return Message(f"Careful: {refusal(review)}", meta=meta)


class Observation(Struct, frozen=True):
    """A call's review, and its outcome if the review alone allows it."""

    review: Review | None
    judgement: StepOutcome | None = None


def review_and_observe(
    pipeline: DecisionPipeline,
    step: Step,
    absent: tuple[str, ...] | None,
    *,
    free: bool,
    whatever_verdict: bool = False,
) -> Observation:
    """Review a call; one that only reads, and that nothing holds back (`free`), is also counted and observed."""
    review = pipeline.review(step)
    allowed = whatever_verdict or (review is not None and review.verdict == "allow")
    if not free or not allowed or may_change(review):
        return Observation(review)
    pipeline.guard.part("supervisor", pipeline.count, 0.0, step)
    return Observation(review, pipeline.observe(step, review, absent=absent))


def observe_result(pipeline: DecisionPipeline, step: Step, absent: tuple[str, ...] | None) -> Observation:
    """Observe a step that has happened. A call that was never submitted for review is reviewed after the fact."""
    review = pipeline.review(step)
    return Observation(review, pipeline.observe(step, review, absent=absent))
