"""DecisionPipeline: reviews, detects and decides for one run's steps. Does no I/O; its state can be stored."""

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
    from ..intervene import ChangedSince
    from ..proof import ProofTracker
    from ..review import Level, Reviewer
    from .decision_parts import JudgingParts

THROTTLING = LADDER[2]
"""The rung that tightens limits; they are loosened again when the problem is over."""

REFUSED = "refused"
"""The outcome of a call that did not run."""

CHECKPOINTS = 256
"""The most checkpoints that a rollback can choose from: all of the newest, fewer and fewer of the older ones."""

MARKS = 64
"""The most checkpoints whose detector windows are kept in memory; a rollback beyond them starts with new windows."""


class DecisionPipeline:
    """Judges the steps of one run.

    `model` sets the price until a step names its own model; `guard` isolates the parts; `assume_checkpoint` is for
    recorded traces; `attended`: a person answers the contract's questions. `changed`: what an automatic rollback would
    take back; without it, all that changed. `late`: the parts that judge steps
    are created with the first step.
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
        level: Level = "off",
        assume_checkpoint: bool = False,
        attended: bool = False,
        changed: ChangedSince | None = None,
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

        # Does not refer to self: a scan creates thousands of pipelines, and collecting cycles takes time.
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
                level=level,
                assume_checkpoint=assume_checkpoint,
                attended=attended,
                changed=changed,
            )

        self._make = make
        if not late:
            _ = self.parts

    @property
    def parts(self) -> JudgingParts:
        """The parts that judge steps, created on first use."""
        if self._parts is None:
            with self._making:
                if self._parts is None:
                    parts = self._make()
                    parts.hold_to(self._run.context)
                    if self._run.checkpoints:
                        # Their windows are in the initial state, as for a checkpoint without stored windows.
                        parts.proof.mark(self._run.checkpoints[-1].id, after=False)
                    self._parts = parts
        return self._parts

    def prepare(self) -> None:
        """Load what judges steps before the first step's time limit starts."""
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
        """The run's task, contract and progress."""
        return self._run.context

    def warm(self) -> None:
        """Create now what the first steps would otherwise have to wait for."""
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
        """Review steps that have already happened; each review uses what earlier results have shown."""
        parts, reviews = self.parts, []
        for step in steps:
            review = None
            if step.origin == "agent":
                if step.kind == "tool_call":
                    review = parts.review(step)
                elif step.kind == "tool_result":
                    self.guard.part("reviewer", parts.reviewer.observe, None, step)
            reviews.append(review)
        return reviews

    def prove(self, step: Step, *, prevented: bool = False, absent: tuple[str, ...] | None = None) -> None:
        """Pass a step to the proof: its claims, and the checks that it runs."""
        if step.origin == "agent":
            self.guard.part("proof", self.parts.proof.observe, None, step, prevented, absent)

    def count(self, step: Step) -> float:
        """Count a step's time and cost, whatever its outcome; returns the step's time."""
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
        """Judge a step that has been counted, and return the outcome.

        `prevented`: the call was refused and did not run; `absent` are files that it claims but that do not exist;
        `learnt`: the reviewer and the proof have already seen it.
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
            # The refusal says why the call was refused; only a retry deserves another message.
            issues = [_prevented(issue, review) for issue in issues if issue.details.get("tries") != 1]
            refused = replace(step, role="tool", kind="tool_result", content=REFUSED, usage=None)
            again: list[Issue] = []
            issues += self.guard.part("detectors", detectors.observe, again, Seen(refused, refused=True))
        if self._raised:
            issues = [*issues, *(issue for issue in self._raised if issue.type not in detectors.muted)]
            self._raised = []
        return self._answer(step, issues, detectors.progress(), now, assumed)

    def state(self, now: float) -> RunState:
        """The run's state as interventions see it."""
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
        """What the run is stuck on: of several open episodes, the one with the highest level, then the newest.

        Empty if all episodes are over; None if there never was one.
        """
        if self._parts is None:
            return None
        state = self._parts.state
        found = [episode for episode in state.episodes if episode.open]
        if not found:
            return "" if state.opened else None
        return max(found, key=lambda one: (one.level or 0, bool(one.failed), one.opened_step)).standing

    def set_status(self, status: Status) -> tuple[Episode, ...]:
        """Set the run's status: a paused run gets no new interventions; a person who resumes it has reviewed it.

        Returns the episodes that this ended.
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
        """Record whether a person can be reached; if so, they are asked before the run is stopped."""
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
            # Skipped after a step: the windows stay the same until the checkpoint before the next step.
            self._marks[checkpoint.id] = self.detectors.save()
            while len(self._marks) > MARKS:
                del self._marks[next(iter(self._marks))]

    def go_back(self, checkpoint_id: str) -> None:
        """The run was rolled back to a checkpoint: windows and growth samples follow, spend and history stay."""
        at = next((known for known in self._run.checkpoints if known.id == checkpoint_id), None)
        windows = self._marks.get(checkpoint_id)
        self.detectors.go_back(windows if windows is not None else self.parts.fresh)
        self.proof.mark(checkpoint_id, after=False)
        if at is not None:
            self.ledger.forget_growth(at.time)
            kept = tuple(known for known in self._run.checkpoints if known.time <= at.time)
            self._run = replace(self._run, checkpoints=kept)

    def save(self) -> bytes:
        """Everything that later decisions depend on."""
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
        """Continue from a state returned by `save`."""
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
        """Update the instructions after the agent has read its task file; reviewer and contract then use them."""
        context = replace(self._run.context, instructions=instructions)
        self.reviewer.context = replace(self.reviewer.context, instructions=instructions)
        self._hold_to(agree(context, self._contract_config))

    def _hold_to(self, context: Context) -> None:
        """Review calls under this context's contract, and repeat that contract to the agent, from now on."""
        self._run = replace(self._run, context=context)
        self.parts.hold_to(context)

    def _hear_prompt(self, prompt: str) -> None:
        """Take the task from the newest prompt if none was given; its clauses replace those of the previous prompt."""
        said = replace(self._given, original_prompt=prompt, instructions=self._run.context.instructions)
        told = agree(said, self._contract_config)
        self._hold_to(replace(told, original_prompt="", completed_subtasks=self._run.context.completed_subtasks))

    def _advance(self, step: Step) -> None:
        """Update finished work from a step, and the task from a user prompt if none was given."""
        if step.role == "user" and step.kind == "message" and not self._given.original_prompt and step.content:
            self._hear_prompt(step.content)
        if step.kind != "tool_result" and (done := [item.text for item in work_items(step) if item.done]):
            self.finish_work(done)

    def finish_work(self, done: list[str]) -> None:
        """Record finished work: hints and reinforcement take it into account."""
        self._run = replace(self._run, context=advance(self._run.context, done))

    def _learn(self, step: Step) -> None:
        if step.kind == "tool_result" and step.origin == "agent":
            self.guard.part("reviewer", self.parts.reviewer.observe, None, step)

    def _set_limits(self, ruling: Ruling) -> None:
        """Apply the limits of a ruling: a throttle until the problem is over, others permanently."""
        for directive in ruling.directives:
            if isinstance(directive, SetLimits) and ruling.intervention.type == THROTTLING:
                self.meter.throttle(directive, self.ledger.spend)
                self._throttled_for.add(ruling.intervention.episode or ruling.issue.type)
            elif isinstance(directive, SetLimits):
                self.meter.tighten(directive.limits)

    def _come_down(self, judged: Sequence[Intervention], over: Iterable[Episode]) -> None:
        """Lift the throttle when the problem that caused it is over, whichever intervention ended it."""
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
        answerable = [issue for issue in issues if not issue.is_note]
        if not answerable and not before.pending and not sightings and not instructed:
            return StepOutcome(now, assumed, tuple(issues), progressed=progressed)
        checkpoints = self._run.checkpoints
        if self._assume_checkpoint:
            began = [episode.began for episode in before.episodes if episode.open]
            checkpoints = (_assumed_checkpoint(answerable, began, now),)
        run = replace(self.state(now), step=step.index, checkpoints=checkpoints)
        ruled = parts.decide(run, now, answerable, sightings, instructed=instructed, progressed=progressed)
        if ruled is None:
            return StepOutcome(now, assumed, tuple(issues), progressed=progressed)
        parts.state, rulings = ruled
        self._run = replace(rulings.run, checkpoints=self._run.checkpoints)
        changed = _changed(before, parts.state)
        self._settle(rulings, changed)
        return StepOutcome(now, assumed, tuple(issues), rulings.rulings, rulings.judged, progressed, changed)

    def _settle(self, rulings: Rulings, changed: tuple[Episode, ...]) -> None:
        """Apply what was decided; restart the counts of what is over."""
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
    """The episodes that opened, were answered or ended; these are reported."""
    known = {episode.id: episode for episode in before.episodes}
    return tuple(
        episode
        for episode in after.episodes
        if (was := known.get(episode.id)) is not episode
        and (was is None or was.answers != episode.answers or was.ending != episode.ending)
    )


def _thinned(checkpoints: tuple[CheckpointInfo, ...]) -> tuple[CheckpointInfo, ...]:
    """Drop every second checkpoint of the older half if there are too many: an episode may be as old as the run."""
    if len(checkpoints) <= CHECKPOINTS:
        return checkpoints
    half = len(checkpoints) // 2
    return (*checkpoints[:half:2], *checkpoints[half:])


def _assumed_checkpoint(issues: Sequence[Issue], began: Sequence[int], now: float) -> CheckpointInfo:
    """A recorded trace has no checkpoints: assume a safe one before the problem began."""
    first = min(
        (*began, *(issue.step if issue.started_step is None else issue.started_step for issue in issues)), default=0
    )
    return CheckpointInfo(id="assumed", time=now, step=max(0, first), label="assumed")


def _prevented(issue: Issue, review: Review | None) -> Issue:
    """A blocked attempt is as severe as if it had run, but has no impact; only the agent has to be told."""
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
    """Without a runtime, there is nobody to notify."""
