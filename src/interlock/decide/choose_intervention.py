"""Controller: decides how to answer a step, by episodes or by single issues. Pure: values in, values out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from ..config import Interventions
from ..core import LADDER, BadInput, Capability, Intervention, Issue, Outcome, RunState
from ..intervene import (
    BUILT_IN,
    ChangedSince,
    Custom,
    RecoveryNeeded,
    Stopped,
    Templates,
    custom_interventions,
    pause_for_person,
)
from .episode import TOP
from .ladder import Ladder, apply_rung, can_restore
from .progressive import Progressive
from .ruling import IssueWeight, Observed, Ruling, Rulings, WeighedIssue, answerable, before_acting, before_limit, weigh
from .state import ControllerState, PendingEffect, judge, remember
from .strategies import PROGRESSIVE, Situation, Strategy, find_strategy, level_from

ROLLBACK = LADDER[3]

Ruled = tuple[ControllerState, RunState, Ruling]


class Controller:
    """One per run. Holds only constants; everything that changes is in the state passed in and returned.

    Without `strategies` and `custom`, the installed and registered ones are used. `restorable` says whether the
    workspace can be restored; None means that the run state decides. `changed` says what there is to roll back.
    """

    def __init__(
        self,
        config: Interventions,
        capabilities: frozenset[Capability],
        *,
        strategies: Mapping[str, Strategy] | None = None,
        custom: Sequence[Custom] | None = None,
        templates: Templates = BUILT_IN,
        restorable: bool | None = None,
        changed: ChangedSince | None = None,
    ) -> None:
        own = custom_interventions() if custom is None else tuple(custom)
        _check_names(own)
        self._config = config
        self._templates = templates
        self._restorable = restorable
        self._ladder = Ladder(config, capabilities, own)
        self._progressive: Progressive | None = None
        if config.strategy.type == PROGRESSIVE:
            self._progressive = Progressive(config, capabilities, own, templates, restorable, changed)
        else:
            self._strategy = find_strategy(config.strategy.type, strategies)

    def use_capabilities(self, capabilities: frozenset[Capability]) -> None:
        """Set the adapter's actual capabilities."""
        self._ladder = replace(self._ladder, capabilities=capabilities)
        if self._progressive is not None:
            self._progressive.use_capabilities(capabilities)

    def start(self) -> ControllerState:
        """The initial state of a run."""
        return ControllerState(observing=self._config.observe)

    def advance(
        self, state: ControllerState, seen: Observed, run: RunState, now: float
    ) -> tuple[ControllerState, Rulings]:
        """Process one step: judge the effect of earlier interventions, and answer the new issues."""
        if state.observing != self._config.observe:
            state = self._simulated_apart(state)
        if self._progressive is not None:
            return self._progressive.advance(state, seen, run, now)
        types = {issue.type for issue in seen.issues}
        state, judged = self.observe_step(state, seen.step, types, seen.progressed, now)
        run = remember(run, interventions=judged)
        if not seen.issues:
            return state, Rulings(rulings=(), judged=tuple(judged), run=run)
        state, rulings = self.decide(state, seen.issues, run, now)
        return state, replace(rulings, judged=(*judged, *rulings.judged))

    def decide(
        self, state: ControllerState, issues: Sequence[Issue], run: RunState, now: float
    ) -> tuple[ControllerState, Rulings]:
        """Rule on every issue. At most one intervention acts, for the strongest issue, unless others are critical."""
        step = max((run.step, *(issue.step for issue in issues)))
        state, judged = self.observe_step(state, step, {issue.type for issue in issues}, False, now)
        run = remember(run, issues, judged)
        rulings: list[Ruling] = []
        for weight in sorted(
            (weigh(state, issue, now) for issue in issues), key=lambda weight: weight.strength, reverse=True
        ):
            state, run, ruling = self._rule(state, weight, run, now, rulings)
            rulings.append(ruling)
        return state, Rulings(rulings=tuple(rulings), judged=tuple(judged), run=run)

    def observe_step(
        self, state: ControllerState, step_index: int, issue_types_seen: Collection[str], progressed: bool, now: float
    ) -> tuple[ControllerState, list[Intervention]]:
        """After a step, judge the effect of earlier interventions; return those whose outcome is now known."""
        if state.observing != self._config.observe:
            state = self._simulated_apart(state)
        needed = self._config.strategy.effectiveness_steps
        state, judged = judge(state, step_index, issue_types_seen, progressed, needed)
        # In observe mode nothing was applied: the ladder is still simulated, but no outcome is reported.
        return state, [] if self._config.observe else judged

    def _simulated_apart(self, state: ControllerState) -> ControllerState:
        """A fresh state: simulated interventions never count as applied ones, or vice versa."""
        return ControllerState(observing=self._config.observe, recorded=state.recorded, pace=state.pace)

    def _rule(
        self, state: ControllerState, weight: IssueWeight, run: RunState, now: float, earlier: Sequence[Ruling]
    ) -> Ruled:
        case = self._case(state, weight, run, now)
        if obstacle := before_limit(case, self._config, run, earlier):
            return self._leave(state, case, run, now, obstacle)
        if state.failed >= self._config.max_interventions_per_execution:
            return self._end_attempts(state, case, run, now)
        if obstacle := before_acting(case, self._config, state, now):
            return self._leave(state, case, run, now, obstacle)
        return self._act(state, case, run, now)

    def _case(self, state: ControllerState, weight: IssueWeight, run: RunState, now: float) -> WeighedIssue:
        """Strategy, repeat rule, at most one level up, disabled rungs, capabilities; in this order."""
        known, name = state.of(weight.issue.type), self._config.strategy.type
        situation = Situation(
            issue=answerable(weight.issue),
            score=weight.score,
            combined=weight.combined,
            escalation=weight.escalation,
            last_level=known.last_level,
            effectiveness=known.effectiveness(known.last_type),
            config=self._config,
        )
        wanted = level_from(self._strategy(situation), name)
        level, climbed = self._ladder.climb(wanted, weight.issue, known, now)
        restorable = can_restore(run) if self._restorable is None else self._restorable
        rung = self._ladder.find(level, weight.issue, restorable=restorable)
        return WeighedIssue(weight, rung, (f"{name} wants {LADDER[wanted]}", *climbed, *rung.reasons))

    def _leave(
        self, state: ControllerState, case: WeighedIssue, run: RunState, now: float, obstacle: tuple[Outcome, str]
    ) -> Ruled:
        outcome, why = obstacle
        made = case.intervention(state.recorded + 1, run, now, outcome, (why,))
        return (
            replace(state, recorded=state.recorded + 1),
            remember(run, (), (made,)),
            case.ruling(made, None, self._config.observe),
        )

    def _end_attempts(self, state: ControllerState, case: WeighedIssue, run: RunState, now: float) -> Ruled:
        """Too many interventions have failed: pause for a person, or stop the run."""
        why = f"{state.failed} interventions did not work"
        stop = self._ladder.find(TOP, case.issue, restorable=False)
        if self._config.on_limit == "stop" and stop.level == TOP and stop.applicable:
            return self._act(state, WeighedIssue(case.weight, stop, (why, *stop.reasons)), run, now)
        answer = pause_for_person(case.issue, run, now, why)
        made = case.intervention(state.recorded + 1, run, now, "held_back", (answer.log,))
        state = replace(state, recorded=state.recorded + 1, last_acted=now)
        return state, remember(run, (), (made,)), case.ruling(made, answer, self._config.observe)

    def _act(self, state: ControllerState, case: WeighedIssue, run: RunState, now: float) -> Ruled:
        rung, watching = case.rung, self._config.observe
        answer = apply_rung(rung, case.issue, run, self._config, now, self._templates)
        if rung.name == ROLLBACK and isinstance(answer, RecoveryNeeded):
            # There is no safe checkpoint: the run waits for a person, and nothing was rolled back.
            made = case.intervention(state.recorded + 1, run, now, "not_applied", (answer.log,))
            state = replace(state, recorded=state.recorded + 1, last_acted=now)
            return state, remember(run, (), (made,)), case.ruling(made, answer, watching)
        reason = f"observe: would have been applied: {answer.log}" if watching else answer.log
        made = case.intervention(state.recorded + 1, run, now, "not_applied" if watching else "pending", (reason,))
        known = state.of(case.issue.type)
        state = state.with_type(case.issue.type, known.answered(rung.level, rung.name, now))
        state = replace(
            state,
            recorded=state.recorded + 1,
            acted=state.acted + 1,
            last_acted=now,
            pending=(*state.pending, PendingEffect(replace(made, outcome="pending"))),
        )
        if not watching and not isinstance(answer, Stopped):
            run = answer.state
        ruling = case.ruling(made, answer, self._config.observe, escalated=known.is_escalation(rung.level))
        return state, remember(run, (), (made,)), ruling


def _check_names(custom: Sequence[Custom]) -> None:
    names = [own.name for own in custom]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"two custom interventions are named {name!r}", todo="Rename or remove one of them.")
