"""ControllerState: a controller's state, which can be stored at any time; and whether interventions worked."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct
from msgspec.structs import replace

from ..config import Interventions
from ..core import HISTORY, Intervention, Issue, RunState
from .episode import Episode
from .strategies import HIGHEST_ESCALATION

COOLDOWN_S = 30.0
"""Seconds between two interventions, unless the run is faster than that."""
ESCALATION_DELAY_S = 120.0
"""The same before a stronger intervention."""
COOLDOWN_CALLS = 1
ESCALATION_CALLS = 3
"""The same in calls, at the run's own pace: at 0.4 s per call, 30 s would be 75 wasted calls."""
KEPT = 15


class Pace(Struct, frozen=True, omit_defaults=True):
    """The intervals between the last calls."""

    last: float | None = None
    gaps: tuple[float, ...] = ()

    def called(self, now: float) -> Pace:
        """The pace after one more call."""
        if self.last is None:
            return Pace(now)
        return Pace(now, (*self.gaps, max(0.0, now - self.last))[-KEPT:])

    @property
    def call_s(self) -> float | None:
        """The median time of a call; None without one."""
        if not self.gaps:
            return None
        ordered, middle = sorted(self.gaps), len(self.gaps) // 2
        return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2

    def cooldown(self, config: Interventions) -> float:
        """Seconds between two interventions: as configured, otherwise the shorter of the two limits."""
        configured = config.intervention_cooldown_seconds
        return self._shorter(COOLDOWN_S, COOLDOWN_CALLS) if configured is None else configured

    def escalation_delay(self, config: Interventions) -> float:
        """Seconds before a stronger intervention."""
        configured = config.strategy.escalation_delay_seconds
        return self._shorter(ESCALATION_DELAY_S, ESCALATION_CALLS) if configured is None else configured

    def _shorter(self, seconds: float, calls: int) -> float:
        return seconds if self.call_s is None else min(seconds, calls * self.call_s)


WINDOW_SECONDS = 300.0
"""How long an ineffective intervention counts towards escalation and the repeat rule."""

JUDGED = 5
"""How many judged interventions the effectiveness is based on."""

MOST_EPISODES = 48
"""Episodes kept, open and closed."""

MOST_TYPES = 64
"""Issue types kept; the longest inactive one is dropped first."""


class TypeState(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The state of one type of issue.

    `failures` are the times of the newest ineffective interventions, `streak` how many in a row since one worked,
    `hints` how many soft corrections in a row; `judged` maps an intervention's type to its last outcomes, newest last;
    `start` is the rung at which its last episode began.
    """

    last_level: int | None = None
    last_type: str | None = None
    failures: tuple[float, ...] = ()
    streak: int = 0
    hints: int = 0
    escalated_at: float | None = None
    start: int = 0
    judged: dict[str, tuple[bool, ...]] = {}

    def escalation(self, now: float) -> int:
        """The number of ineffective interventions in the last 5 minutes, 0 to 3."""
        return sum(now - time <= WINDOW_SECONDS for time in self.failures)

    def repeated(self, now: float) -> int:
        """Failed answers in the last 5 minutes, since one last worked."""
        recent = self.failures[-self.streak :] if self.streak else ()
        return sum(now - time <= WINDOW_SECONDS for time in recent)

    def effectiveness(self, intervention_type: str | None) -> float | None:
        """The share that worked among the last judged ones of that type; None if none was judged."""
        outcomes = self.judged.get(intervention_type or "", ())
        return sum(outcomes) / len(outcomes) if outcomes else None

    def is_escalation(self, level: int) -> bool:
        return self.last_level is not None and level > self.last_level

    def answered(self, level: int, intervention_type: str, now: float) -> TypeState:
        """The state after an intervention at this level."""
        return replace(
            self,
            last_level=level,
            last_type=intervention_type,
            escalated_at=now if self.is_escalation(level) else self.escalated_at,
        )

    def judge(self, made: Intervention, *, worked: bool) -> TypeState:
        """The state after one of its interventions was judged."""
        outcomes = (*self.judged.get(made.type, ()), worked)[-JUDGED:]
        judged = {**self.judged, made.type: outcomes}
        if worked:
            return replace(self, judged=judged, streak=0, hints=0, failures=self.failures[:-1])
        return replace(
            self,
            judged=judged,
            streak=min(self.streak + 1, HIGHEST_ESCALATION),
            hints=self.hints + 1 if made.level == 0 else self.hints,
            failures=(*self.failures, made.time)[-HIGHEST_ESCALATION:],
        )


class PendingEffect(Struct, frozen=True, omit_defaults=True):
    """An intervention whose effect is pending, and whether there was progress since."""

    made: Intervention
    progressed: bool = False


class ControllerState(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Bounded: windows and counters. The journal has every intervention."""

    types: dict[str, TypeState] = {}
    pending: tuple[PendingEffect, ...] = ()
    last_acted: float | None = None
    recorded: int = 0
    acted: int = 0
    failed: int = 0
    worked: int = 0
    observing: bool = False
    episodes: tuple[Episode, ...] = ()
    opened: int = 0
    pace: Pace = Pace()

    def episode(self, name: str) -> Episode | None:
        return next((known for known in self.episodes if known.id == name), None)

    def with_episode(self, episode: Episode) -> ControllerState:
        """The state with this episode updated or added; the oldest closed one is dropped if there are too many."""
        if any(known.id == episode.id for known in self.episodes):
            return replace(self, episodes=tuple(episode if one.id == episode.id else one for one in self.episodes))
        episodes = [*self.episodes, episode]
        while len(episodes) > MOST_EPISODES:
            oldest = next((one for one in episodes if not one.open), episodes[0])
            episodes.remove(oldest)
        return replace(self, episodes=tuple(episodes))

    def of(self, issue_type: str) -> TypeState:
        return self.types.get(issue_type, TypeState())

    def judged(self, made: Intervention, *, worked: bool) -> tuple[ControllerState, Intervention]:
        """The state after an intervention was judged, and the intervention with its outcome."""
        state = self.with_type(made.issue_type, self.of(made.issue_type).judge(made, worked=worked))
        state = replace(state, failed=state.failed + (not worked), worked=state.worked + worked)
        return state, replace(made, outcome="success" if worked else "failure")

    def with_type(self, issue_type: str, value: TypeState) -> ControllerState:
        """The state with a type's entry updated and moved to the end as the newest."""
        types = {name: known for name, known in self.types.items() if name != issue_type}
        types[issue_type] = value
        for name in list(types)[: max(0, len(types) - MOST_TYPES)]:
            del types[name]
        return replace(self, types=types)


def count_anew(state: ControllerState) -> ControllerState:
    """After a person resumes a paused run, open problems start from scratch if they come back."""
    episodes = tuple(one.end("resumed") if one.open and one.level is not None else one for one in state.episodes)
    return replace(state, failed=0, episodes=episodes)


def judge(
    state: ControllerState, step: int, seen_types: Collection[str], progressed: bool, steps_needed: int
) -> tuple[ControllerState, list[Intervention]]:
    """Judge pending interventions after a step; return those whose outcome is now known.

    An intervention has failed as soon as its issue type comes back, and has worked when `steps_needed` steps passed
    without it and with progress. Without progress it stays pending, until there is some or the issue comes back.
    """
    if not state.pending:
        return state, []
    waiting: list[PendingEffect] = []
    judged: list[Intervention] = []
    for entry in state.pending:
        made, passed = entry.made, step - entry.made.step
        progress = entry.progressed or (progressed and passed > 0)
        came_back = made.issue_type in seen_types and passed > 0
        if not came_back and not (passed >= steps_needed and progress):
            waiting.append(PendingEffect(made, progress))
            continue
        state, outcome = state.judged(made, worked=not came_back)
        judged.append(outcome)
    return replace(state, pending=tuple(waiting)), judged


def remember(run: RunState, issues: Iterable[Issue] = (), interventions: Iterable[Intervention] = ()) -> RunState:
    """The run with these added; an intervention that is already there is updated."""
    found = {known.id: known for known in (*run.issues, *issues)}
    made = {known.id: known for known in (*run.interventions, *interventions)}
    return replace(run, issues=tuple(found.values())[-HISTORY:], interventions=tuple(made.values())[-HISTORY:])
