"""The rules of the ladder: from the level that a strategy wants to the chosen rung, its needs, and its intervention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from ..config import Interventions
from ..core import DESTRUCTIVE_ACTION, LADDER, PAUSE, Capability, InterventionType, Issue, RunState
from ..intervene import (
    FIRST,
    Attempt,
    ChangedSince,
    Custom,
    InterventionResponse,
    Templates,
    checkpoint_rollback,
    context_reinforcement,
    emergency_stop,
    pause_for_person,
    resource_throttling,
    soft_correction,
)
from .episode import TOP
from .state import TypeState

ATTEMPTS = 3
"""Consecutive hints that may fail, unless configured."""

REPEATED = 2
"""Failed answers to a type of issue after which the level rises by one."""


class Rung(Struct, frozen=True):
    """The chosen rung. `custom` replaces the built-in one; `pause` means a person instead of a stop."""

    level: int
    name: str
    reasons: tuple[str, ...]
    custom: Custom | None = None
    pause: bool = False
    applicable: bool = True


class Ladder(Struct, frozen=True):
    """The available rungs, from the configuration, the adapter's capabilities and custom interventions."""

    config: Interventions
    capabilities: frozenset[Capability]
    custom: Sequence[Custom] = ()

    def climb(self, wanted: int, issue: Issue, known: TypeState, now: float) -> tuple[int, tuple[str, ...]]:
        """Apply the repeat rule, the limit on failed hints, and at most one level up for a type answered before."""
        level, reasons = wanted, []
        if known.repeated(now) >= REPEATED:
            level += 1
            reasons.append("repeat rule: two interventions for this type failed within 5 minutes")
        if level == 0 and known.hints >= (self.config.soft_correction.max_attempts or ATTEMPTS):
            level = 1
            reasons.append(f"{known.hints} hints in a row did not work")
        last = known.last_level
        if last is not None and level > last + 1 and issue.type != DESTRUCTIVE_ACTION:
            level = last + 1
            reasons.append("one level up at most")
        return min(TOP, level), tuple(reasons)

    def find(self, level: int, issue: Issue, *, restorable: bool) -> Rung:
        """The rung at a level, or the next stronger enabled one; a weaker one if the adapter cannot apply that."""
        level, reasons = self._first_enabled(level, issue.type)
        if level == TOP and not self._is_on(TOP, issue.type):
            reasons.append("emergency_stop is switched off: a person decides")
            return Rung(TOP, LADDER[TOP], tuple(reasons), pause=True)
        for lower in range(level, -1, -1):
            custom = self._custom(lower, issue.type)
            name = custom.name if custom else LADDER[lower]
            if lower < level and not self._is_on(lower, issue.type):
                continue
            missing = self._missing(lower, custom, restorable=restorable)
            if not missing:
                return Rung(lower, name, tuple(reasons), custom=custom)
            reasons.append(f"{name} needs {missing}")
        return Rung(level, LADDER[level], (*reasons, "nothing milder can be applied"), applicable=False)

    def at(self, level: int, issue: Issue, *, restorable: bool, reachable: bool) -> Rung:
        """The rung at a level: a stronger one if it is disabled, never a weaker one.

        If the adapter cannot apply it, the rung says so; above rollback a person decides, if one can be reached.
        """
        level, reasons = self._first_enabled(level, issue.type)
        if level >= TOP:
            top = self.top(issue, reachable=reachable)
            return Rung(TOP, top.name, (*reasons, *top.reasons), top.custom, top.pause)
        custom = self._custom(level, issue.type)
        name = custom.name if custom else LADDER[level]
        missing = self._missing(level, custom, restorable=restorable)
        if missing:
            return Rung(level, name, (*reasons, f"{name} needs {missing}"), custom, applicable=False)
        return Rung(level, name, tuple(reasons), custom)

    def top(self, issue: Issue, *, reachable: bool) -> Rung:
        """The top of the ladder: a person if one can be reached, otherwise a stop; a pause if that is not possible."""
        custom = self._custom(TOP, issue.type)
        if custom is not None and not self._missing(TOP, custom):
            return Rung(TOP, custom.name, (), custom)
        if reachable:
            return Rung(TOP, PAUSE, ("a person is available",), pause=True)
        if not self._is_on(TOP, issue.type):
            return Rung(TOP, PAUSE, ("emergency_stop is switched off: a person decides",), pause=True)
        if missing := self._missing(TOP, None):
            return Rung(TOP, PAUSE, (f"{LADDER[TOP]} needs {missing}: a person decides",), pause=True)
        return Rung(TOP, LADDER[TOP], ())

    def _first_enabled(self, level: int, issue_type: str) -> tuple[int, list[str]]:
        """The level, or the next stronger enabled one, and why weaker ones are skipped."""
        first = next((one for one in range(level, TOP) if self._is_on(one, issue_type)), TOP)
        return first, [f"{LADDER[one]} is switched off" for one in range(level, first)]

    def _is_on(self, level: int, issue_type: str) -> bool:
        return self._custom(level, issue_type) is not None or bool(getattr(self.config, LADDER[level]).enabled)

    def _custom(self, level: int, issue_type: str) -> Custom | None:
        return next((own for own in self.custom if own.answers(issue_type, level)), None)

    def _missing(self, level: int, custom: Custom | None, *, restorable: bool = False) -> str:
        """The capabilities that the adapter lacks for a rung, in words; empty if it lacks none."""
        needs = custom.needs if custom else NEEDS[LADDER[level]]
        lacking = sorted(needs - self.capabilities)
        if lacking:
            return " and ".join(lacking)
        if custom is None and LADDER[level] == "checkpoint_rollback" and not restorable:
            return "a workspace that can be restored"
        return ""


NEEDS: Mapping[InterventionType, frozenset[Capability]] = {
    "soft_correction": frozenset({"inject"}),
    "context_reinforcement": frozenset({"inject"}),
    "resource_throttling": frozenset(),
    "checkpoint_rollback": frozenset(),
    "emergency_stop": frozenset({"stop"}),
}
"""What the adapter must support. The runtime itself does throttling and rollback: throttling delays and refuses calls
and limits the process; rollback needs a workspace that can be restored, see `can_restore`."""


def can_restore(run: RunState) -> bool:
    """Whether there is a workspace to restore; the rung itself checks for a safe checkpoint."""
    return run.context.workspace is not None or bool(run.checkpoints)


def apply_rung(
    rung: Rung,
    issue: Issue,
    run: RunState,
    config: Interventions,
    now: float,
    templates: Templates,
    attempt: Attempt = FIRST,
    changed: ChangedSince | None = None,
) -> InterventionResponse:
    """The response of the rung's intervention; `attempt` describes earlier answers in the same episode."""
    if rung.pause:
        return pause_for_person(issue, run, now, attempt.tried() or rung.reasons[-1])
    if rung.custom is not None:
        return rung.custom.apply(issue, run, config, now)
    match rung.name:
        case "soft_correction":
            return soft_correction(issue, run, now, templates, attempt)
        case "context_reinforcement":
            return context_reinforcement(issue, run, config.context_reinforcement, now, attempt)
        case "resource_throttling":
            return resource_throttling(issue, run, config.resource_throttling, now, attempt)
        case "checkpoint_rollback":
            window = config.resource_throttling.metrics_window_seconds
            return checkpoint_rollback(
                issue, run, config.checkpoint_rollback, now, attempt, window_s=window, changed=changed
            )
        case _:
            return emergency_stop(issue, run, config, now)
