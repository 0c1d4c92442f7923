"""DecisionPipeline: review, detect and decide over one run's steps. No input or output; its state can be stored."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from ..config import Config
from ..contract import advance, agree, work_items
from ..core import (
    DESTRUCTIVE_ACTION,
    EVERY_CAPABILITY,
    LADDER,
    LOOP,
    REPETITIVE_ERRORS,
    RESOURCE_SPIRAL,
    Capability,
    CheckpointInfo,
    Context,
    Intervention,
    Issue,
    Review,
    RunState,
    Seen,
    SetLimits,
    Status,
    Step,
    compile_late_patterns,
    from_msgpack,
)
from ..journal_records import Fault, Opinion
from .fail_open import Guard
from .limit_meter import LimitMeter
from .pipeline_values import AFTER_STEP, Plugins, StepClock, StepOutcome
from .usage_tracker import Prices, UsageTracker

if TYPE_CHECKING:
    from ..decide import Controller, ControllerState, Episode, Ruling, Rulings, Sighting
    from ..detect import Detectors
    from ..proof import ProofTracker
    from ..review import Reviewer
    from .decision_parts import JudgingParts

THROTTLING = LADDER[2]
"""The rung that tightens limits; they are loosened again when the trouble is over."""

REPEATING = (LOOP, REPETITIVE_ERRORS, RESOURCE_SPIRAL)
"""What an agent shows that tries again and again what is refused."""

REFUSED = "refused"
"""The outcome of a call that did not run."""

CHECKPOINTS = 256
"""Checkpoints to choose from when the run goes back: all of the newest, fewer and fewer of older ones."""

MARKS = 64
"""Checkpoints whose detector windows are kept in memory; going back further starts the windows anew."""


class DecisionPipeline:
    """One run, seen and answered.

    `model` is whose price counts until a step names its own; `guard` isolates the parts; `assume_checkpoint` is for
    recorded traces; `attended` says that a person answers what the contract asks. `late`: the parts that judge steps
    are made with the first of them.
    """

    def __init__(
        self,
        run_id: str,
        config: Config,
        context: Context,
        *,
        model: str | None = None,
        capabilities: frozenset[Capability] = EVERY_CAPABILITY,
        plugins: Plugins | None = None,
        guard: Guard | None = None,
        restorable: bool | None = None,
        contained: bool = False,
        assume_checkpoint: bool = False,
        attended: bool = False,
        late: bool = False,
    ) -> None:
        self._given = context
        context = agree(context, config.contract)
        self._contract_config = config.contract
        window = config.interventions.resource_throttling.metrics_window_seconds
        self.guard = made_guard = guard or Guard(None, _nothing)
        self.ledger = UsageTracker(window)
        self.meter = LimitMeter(config.limits.plain, window, config.limits.ceiling)
        self.prices = Prices(config.models)
        self._model = model
        self._assume_checkpoint = assume_checkpoint
        self._clock = StepClock()
        self._run = RunState(run_id=run_id, context=context, limits=config.limits.plain)
        self._marks: dict[str, bytes] = {}
        self._throttled_for: set[str] = set()
        self._assumed = False
        self.priced = 0.0
        self._raised: list[Issue] = []
        self._parts: JudgingParts | None = None
        self._making = threading.Lock()

        # Without us in it: pipelines come and go by the thousand in a scan, and a cycle is garbage that takes time.
        def make() -> JudgingParts:
            from .decision_parts import JudgingParts

            return JudgingParts(
                config,
                context,
                capabilities=capabilities,
                plugins=plugins or Plugins(),
                guard=made_guard,
                restorable=restorable,
                contained=contained,
                assume_checkpoint=assume_checkpoint,
                attended=attended,
            )

        self._make = make
        if not late:
            _ = self.parts

    @property
    def parts(self) -> JudgingParts:
        """What judges steps; made when it is first asked for."""
        if self._parts is None:
            with self._making:
                if self._parts is None:
                    parts = self._make()
                    parts.hold_to(self._run.context)
                    if self._run.checkpoints:
                        # The windows of all of them are as they are at the start, which is what one without has.
                        parts.proof.mark(self._run.checkpoints[-1].id, after=False)
                    self._parts = parts
        return self._parts

    def prepare(self) -> None:
        """Have ready what judges steps, before the time begins that it has for one."""
        if self._parts is None:
            self.guard.part("reviewer", self.reviewer.warm, None)

    @property
    def has_judged(self) -> bool:
        """Whether there may have been a step."""
        return self._parts is not None

    @property
    def reviewer(self) -> Reviewer:
        return self.parts.reviewer

    @property
    def detectors(self) -> Detectors:
        return self.parts.detectors

    @property
    def controller(self) -> Controller:
        return self.parts.controller

    @property
    def proof(self) -> ProofTracker:
        return self.parts.proof

    @property
    def context(self) -> Context:
        """What the run is for, with its contract and its progress."""
        return self._run.context

    def warm(self) -> None:
        """Make now what the first steps would have to wait for."""
        from ..proof import read_claims

        _ = self.parts
        self.prices.warm()
        compile_late_patterns()
        read_claims("Done: all tests pass.")

    def review(self, step: Step) -> Review | None:
        """The verdict on an agent's call before it runs; None for any other step."""
        if step.kind != "tool_call" or step.origin != "agent":
            return None
        return self.parts.review(step)

    def review_recorded(self, steps: Iterable[Step]) -> list[Review | None]:
        """The same for steps that have happened, each with what the results before it have taught."""
        reviews: list[Review | None] = []
        for step in steps:
            reviews.append(self.review(step))
            self._learn(step)
        return reviews

    def prove(self, step: Step, *, prevented: bool = False, absent: tuple[str, ...] | None = None) -> None:
        """Let the proof see a step: its claims, and the checks that it runs."""
        if step.origin == "agent":
            self.guard.part("proof", self.parts.proof.observe, None, step, prevented, absent)

    def count(self, step: Step) -> float:
        """Take a step's time and cost into account, whatever becomes of it; returns the time that it counts for."""
        self._clock, now, self._assumed = self._clock.advance(step)
        if step.origin == "agent":
            cost: float | None = 0.0
            if step.model is not None:
                self._model = step.model
            if step.usage is not None and not step.usage.cost_usd:
                usage = step.usage
                cost = self.guard.part("prices", self.prices.cost, None, self._model, usage)
            self.priced = cost or 0.0
            self.ledger.count(step, now, cost)
        return now

    def observe(
        self,
        step: Step,
        review: Review | None = None,
        *,
        prevented: bool = False,
        absent: tuple[str, ...] | None = None,
        learnt: bool = False,
    ) -> StepOutcome:
        """Answer what a counted step shows.

        `prevented` says that a call was refused and did not run; `absent` which files that it claims are not there;
        `learnt` that the reviewer and the proof have seen it.
        """
        now, assumed = self._clock.now or 0.0, self._assumed
        if step.origin != "agent":
            return StepOutcome(now, assumed)
        if not learnt:
            self._learn(step)
            self.prove(step, prevented=prevented, absent=absent)
        parts = self.parts
        detectors = parts.detectors
        if not prevented and step.kind == "tool_call":
            self.ledger.touch(parts.count_files(step, review))
        issues: list[Issue] = []
        issues = self.guard.part("detectors", detectors.observe, issues, Seen(step, review, absent))
        if detectors.context.instructions != self._run.context.instructions:
            self._learn_task(detectors.context.instructions)
        self._advance(step)
        if prevented:
            # Why it was refused is said with the refusal; only trying again is worth more words.
            issues = [_prevented(issue, review) for issue in issues if issue.details.get("tries") != 1]
            # Trying again what was refused leads nowhere, however often: the attempt counts, our own words do not.
            refused = replace(step, role="tool", kind="tool_result", content=REFUSED, usage=None)
            again: list[Issue] = []
            again = self.guard.part("detectors", detectors.observe, again, Seen(refused))
            issues += [issue for issue in again if issue.type in REPEATING]
        if self._raised:
            issues = [*issues, *(issue for issue in self._raised if issue.type not in detectors.muted)]
            self._raised = []
        return self._answer(step, issues, detectors.progress(), now, assumed)

    def state(self, now: float) -> RunState:
        """The run as interventions see it."""
        return replace(
            self._run,
            spend=self.ledger.spend,
            growth=self.ledger.growth(now),
            limits=self.meter.limits,
            windowed=self.meter.windowed,
            actions=self.ledger.actions,
            started=self.ledger.started,
        )

    def stuck(self) -> str | None:
        """What the run is stuck on now: of several episodes the one that has climbed highest, then the newest.

        Empty if all are over; None if there never was one.
        """
        if self._parts is None:
            return None
        state = self._parts.state
        found = [episode for episode in state.episodes if episode.open]
        if not found:
            return "" if state.opened else None
        return max(found, key=lambda one: (one.level or 0, bool(one.failed), one.opened_step)).standing

    def set_status(self, status: Status) -> tuple[Episode, ...]:
        """Know the run's status: a paused run gets no new answers, and who resumed it has looked at it.

        Gives the episodes that ended with that.
        """
        parts = self._parts
        before = parts.state if parts is not None else None
        if status == "running" and self._run.status != "running":
            if parts is not None:
                parts.count_anew()
            over = self.meter.over(self.ledger.spend)
            if over is not None and not over.ends:
                self.meter.loosen()
                self.meter.raise_ceiling(self.ledger.spend)
        self._run = replace(self._run, status=status)
        return _changed(before, parts.state) if parts is not None and before is not None else ()

    @property
    def person_reachable(self) -> bool:
        return self._run.reachable

    def note_person(self, reachable: bool) -> None:
        """Know whether a person can be asked, who then comes before a stop."""
        self._run = replace(self._run, reachable=reachable)

    def heed(self, opinion: Opinion) -> None:
        """Apply a judge's opinion: mute a finding that it rejects, count an issue that it raises with the next step."""
        if opinion.issue is not None:
            self._raised.append(opinion.issue)
        elif opinion.agrees is False:
            self.detectors.mute(opinion.key)

    def mark(self, checkpoint: CheckpointInfo) -> None:
        """Note a checkpoint that a rollback can return to, with the state of the detectors at that point."""
        self._run = replace(self._run, checkpoints=_thinned((*self._run.checkpoints, checkpoint)))
        if self._parts is None:
            return
        self.proof.mark(checkpoint.id, after=checkpoint.cause == AFTER_STEP)
        if checkpoint.cause != AFTER_STEP:
            # After a step they are what they are before the next one, which makes its own checkpoint.
            self._marks[checkpoint.id] = self.detectors.save()
            while len(self._marks) > MARKS:
                del self._marks[next(iter(self._marks))]

    def go_back(self, checkpoint_id: str) -> None:
        """The run went back to a checkpoint: windows and growth samples go back too, spend and history stay."""
        at = next((known for known in self._run.checkpoints if known.id == checkpoint_id), None)
        windows = self._marks.get(checkpoint_id)
        self.detectors.go_back(windows if windows is not None else self.parts.fresh)
        self.proof.mark(checkpoint_id, after=False)
        if at is not None:
            self.ledger.forget_growth(at.time)
            kept = tuple(known for known in self._run.checkpoints if known.time <= at.time)
            self._run = replace(self._run, checkpoints=kept)

    def save(self) -> bytes:
        """Everything that later answers depend on."""
        from .pipeline_state import PipelineState

        return msgspec.msgpack.encode(
            PipelineState(
                self.parts.state,
                self._clock,
                self._run,
                self.ledger.save(),
                self.meter.save(),
                self.reviewer.save(),
                self.detectors.save(),
                self._marks,
                self._throttled_for,
                self._model,
                self.proof.save(),
                self._raised,
            )
        )

    def restore(self, state: bytes) -> None:
        """Continue from what `save` gave."""
        from .pipeline_state import PipelineState

        saved = from_msgpack(state, PipelineState)
        self.parts.state, self._clock, self._run = saved.controller, saved.clock, saved.run
        self._marks, self._throttled_for = saved.marks, saved.throttled_for
        self._model = saved.model or self._model
        self._raised = list(saved.raised)
        self.ledger.restore(saved.ledger)
        self.meter.restore(saved.meter)
        self.reviewer.restore(saved.reviewer)
        self.detectors.restore(saved.detectors)
        if saved.proof:
            self.proof.restore(saved.proof)
        self._hold_to(saved.run.context)
        if saved.run.context.instructions:
            self._learn_task(saved.run.context.instructions)
            self.detectors.learn_task(replace(self.detectors.context, instructions=saved.run.context.instructions))

    def _learn_task(self, instructions: str) -> None:
        """The agent read the file that its task points to: what is said again and reviewed follows it too."""
        context = replace(self._run.context, instructions=instructions)
        self.reviewer.context = replace(self.reviewer.context, instructions=instructions)
        self._hold_to(agree(context, self._contract_config))

    def _hold_to(self, context: Context) -> None:
        """Review calls under the contract of this context, and repeat it from now on."""
        self._run = replace(self._run, context=context)
        self.parts.hold_to(context)

    def _hear_prompt(self, prompt: str) -> None:
        """Where nothing else says what the task is, the newest prompt does; its clauses replace those of the last."""
        said = replace(self._given, original_prompt=prompt, instructions=self._run.context.instructions)
        told = agree(said, self._contract_config)
        self._hold_to(replace(told, original_prompt="", completed_subtasks=self._run.context.completed_subtasks))

    def _advance(self, step: Step) -> None:
        """Know what the agent has finished, and what it was asked if that was not known from the start."""
        if step.role == "user" and step.kind == "message" and not self._given.original_prompt and step.content:
            self._hear_prompt(step.content)
        if step.kind != "tool_result" and (done := [item.text for item in work_items(step) if item.done]):
            self.finish_work(done)

    def finish_work(self, done: list[str]) -> None:
        """Pieces of work are finished: hints and reinforcement count with them."""
        self._run = replace(self._run, context=advance(self._run.context, done))

    def _learn(self, step: Step) -> None:
        if step.kind == "tool_result" and step.origin == "agent":
            self.guard.part("reviewer", self.parts.reviewer.observe, None, step)

    def _set_limits(self, ruling: Ruling) -> None:
        """Hold the run to what an answer says: a throttle for as long as the trouble lasts, the rest permanently."""
        for directive in ruling.directives:
            if isinstance(directive, SetLimits) and ruling.intervention.type == THROTTLING:
                self.meter.throttle(directive, self.ledger.spend)
                self._throttled_for.add(ruling.intervention.episode or ruling.issue.type)
            elif isinstance(directive, SetLimits):
                self.meter.tighten(directive.limits)

    def _come_down(self, judged: Sequence[Intervention], over: Iterable[Episode]) -> None:
        """Lift the throttle when the trouble that it was for is over, whichever answer ended it."""
        if not self._throttled_for:
            return
        self._throttled_for -= {made.issue_type for made in judged if made.outcome == "success"}
        self._throttled_for -= {episode.id for episode in over}
        if not self._throttled_for:
            self.meter.loosen()

    def _answer(self, step: Step, issues: list[Issue], progressed: bool, now: float, assumed: bool) -> StepOutcome:
        parts = self.parts
        before = parts.state
        if step.kind == "tool_call":
            before = parts.state = replace(before, pace=before.pace.called(now))
        sightings: tuple[Sighting, ...] = ()
        instructed = False
        if before.episodes:
            sightings = parts.sightings(step)
            instructed = step.kind == "message" and step.role == "user" and parts.detectors.instructed
        if not issues and not before.pending and not sightings and not instructed:
            return StepOutcome(now, assumed, progressed=progressed)
        checkpoints = self._run.checkpoints
        if self._assume_checkpoint:
            began = [episode.began for episode in before.episodes if episode.open]
            checkpoints = (_assumed_checkpoint(issues, began, now),)
        run = replace(self.state(now), step=step.index, checkpoints=checkpoints)
        ruled = parts.decide(run, now, issues, sightings, instructed=instructed, progressed=progressed)
        if ruled is None:
            return StepOutcome(now, assumed, tuple(issues), progressed=progressed)
        parts.state, rulings = ruled
        self._run = replace(rulings.run, checkpoints=self._run.checkpoints)
        changed = _changed(before, parts.state)
        self._settle(rulings, changed)
        return StepOutcome(now, assumed, tuple(issues), rulings.rulings, rulings.judged, progressed, changed)

    def _settle(self, rulings: Rulings, changed: tuple[Episode, ...]) -> None:
        """Hold the run to what was decided; count anew what is over."""
        over = [episode for episode in changed if not episode.open]
        self._come_down(rulings.judged, over)
        for ruling in rulings.rulings:
            if ruling.directives:
                self._set_limits(ruling)
                if ruling.intervention.episode is None:
                    self.detectors.restart(ruling.issue.type, ruling.issue.agent)
        for issue_type in dict.fromkeys(episode.issue.type for episode in over):
            self.detectors.restart(issue_type, self.detectors.seen)


def _changed(before: ControllerState, after: ControllerState) -> tuple[Episode, ...]:
    """The episodes that opened, were answered or ended: these are reported."""
    known = {episode.id: episode for episode in before.episodes}
    return tuple(
        episode
        for episode in after.episodes
        if (was := known.get(episode.id)) is not episode
        and (was is None or was.answers != episode.answers or was.ending != episode.ending)
    )


def _thinned(checkpoints: tuple[CheckpointInfo, ...]) -> tuple[CheckpointInfo, ...]:
    """Drop every second one of the older half if there are too many: an episode may be as old as the run."""
    if len(checkpoints) <= CHECKPOINTS:
        return checkpoints
    half = len(checkpoints) // 2
    return (*checkpoints[:half:2], *checkpoints[half:])


def _assumed_checkpoint(issues: Sequence[Issue], began: Sequence[int], now: float) -> CheckpointInfo:
    """A recorded trace has no checkpoints; what would have been done assumes a safe one before the trouble."""
    first = min(
        (*began, *(issue.step if issue.started_step is None else issue.started_step for issue in issues)), default=0
    )
    return CheckpointInfo(id="assumed", time=now, step=max(0, first), label="assumed")


def _prevented(issue: Issue, review: Review | None) -> Issue:
    """An attempt that was blocked is as bad as it would have been; what is left to do is to tell the agent."""
    if issue.type != DESTRUCTIVE_ACTION:
        return issue
    why = f" {review.reason}" if review is not None else ""
    advice = f" Instead: {review.instead}" if review is not None and review.instead else ""
    return replace(
        issue,
        impact_factor=0.0,
        description=f"A dangerous call was blocked before it ran.{why}{advice}",
        details={**issue.details, "prevented": True},
    )


def _nothing(fault: Fault) -> None:
    """Without a runtime there is nothing to notify."""
