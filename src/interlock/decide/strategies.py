"""Strategies: the rung for an issue, by its score; built in, from packages, or registered by code."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import cast

from msgspec import Struct

from ..config import Interventions
from ..core import DESTRUCTIVE_ACTION, HALLUCINATION, LADDER, RESOURCE_SPIRAL, SCOPE_CREEP, STRATEGIES, BadInput, Issue

BASE = {"low": 0.2, "medium": 0.5, "high": 0.8, "critical": 1.0}

PER_ESCALATION = 0.3
"""Added for each ineffective intervention on the same type."""

HIGHEST_ESCALATION = 3

BANDS = (0.3, 0.5, 0.7, 0.9)
"""Lower bounds of reinforcement, throttling, rollback, emergency stop; below the first, soft correction."""

DIGITS = 9
"""Sums like 0.3 x 3 must match their bound exactly; further digits are only rounding noise."""


def score(issue: Issue) -> float:
    """Severity score, 0..1. A missing severity is medium, a missing confidence 1, a missing impact 0."""
    base = BASE.get(issue.severity or "medium", BASE["medium"])
    return clamped(base * _share(issue.confidence, 1.0) * (1 + _share(issue.impact_factor, 0.0)))


def combined(issue_score: float, escalation: int) -> float:
    """The score plus the escalation; may exceed 1."""
    level = max(0, min(HIGHEST_ESCALATION, escalation))
    return round(issue_score + PER_ESCALATION * level, DIGITS)


def band(value: float) -> int:
    """The level of the ladder for a combined score."""
    return sum(round(value, DIGITS) >= border for border in BANDS)


def clamped(value: float) -> float:
    return round(max(0.0, min(1.0, value)), DIGITS)


def _share(value: float | None, missing: float) -> float:
    # NaN counts as missing.
    return missing if value is None or math.isnan(value) else max(0.0, min(1.0, value))


class Situation(Struct, frozen=True):
    """The input of a strategy. `last_level` and `effectiveness` are None if there is none yet."""

    issue: Issue
    score: float
    combined: float
    escalation: int
    last_level: int | None
    effectiveness: float | None
    config: Interventions


Strategy = Callable[[Situation], int | str]
"""Returns a level of the ladder (0 to 4) or the name of a rung."""


def severity(situation: Situation) -> int:
    """The band of the combined score, each time."""
    return band(situation.combined)


def pattern_specific(situation: Situation) -> str:
    """The rung in the table for the type and the severity."""
    first, second, third = PATTERN_TABLE.get(situation.issue.type, ANYTHING_ELSE)
    return {"low": first, "high": third, "critical": third}.get(situation.issue.severity or "medium", second)


ANYTHING_ELSE = ("soft_correction", "context_reinforcement", "checkpoint_rollback")

PATTERN_TABLE: Mapping[str, tuple[str, str, str]] = {
    SCOPE_CREEP: ("context_reinforcement", "resource_throttling", "emergency_stop"),
    RESOURCE_SPIRAL: ("resource_throttling", "checkpoint_rollback", "emergency_stop"),
    HALLUCINATION: ("context_reinforcement", "checkpoint_rollback", "emergency_stop"),
    DESTRUCTIVE_ACTION: ("context_reinforcement", "checkpoint_rollback", "emergency_stop"),
}
"""Issue type to the rungs for low, medium, and high or critical severity."""

EFFECTIVE = 0.6
VERY_EFFECTIVE = 0.9


def next_intervention(level: int, effectiveness: float | None, *, threshold: float = EFFECTIVE) -> int:
    """The next level after one with this effectiveness (0 to 1): below the threshold one up, from 0.9 on one down.

    Without an effectiveness yet, or in between, it stays the same. `strategy.type: progressive` uses this rule for a
    problem's first level only; as a strategy of your own it decides every time.
    """
    if effectiveness is None or math.isnan(effectiveness):
        return level_from(level, "next_intervention")
    step = 1 if effectiveness < threshold else -1 if effectiveness >= VERY_EFFECTIVE else 0
    return level_from(level + step, "next_intervention")


PROGRESSIVE = "progressive"
"""The default, which answers episodes instead of single issues: see `progressive.py`."""

BUILT_IN: Mapping[str, Strategy] = {"severity": severity, "pattern_specific": pattern_specific}


def level_from(answer: int | str, name: str) -> int:
    """A strategy's answer as a level within the ladder."""
    if isinstance(answer, str):
        if answer in LADDER:
            return [*LADDER].index(answer)
        raise BadInput(f"the strategy {name!r} returned {answer!r}", todo=f"Known levels: {', '.join(LADDER)}")
    return max(0, min(len(LADDER) - 1, int(answer)))


RESERVED = (PROGRESSIVE, *BUILT_IN)


def register_strategy(name: str, strategy: Strategy) -> None:
    """Register a custom strategy by name for every controller created from now on."""
    if not name or name in RESERVED:
        raise BadInput(f"{name!r} cannot be the name of a strategy of your own", todo="Choose another name.")
    if _own().get(name, strategy) is not strategy:
        raise BadInput(f"a strategy is already registered as {name!r}", todo="Choose another name.")
    STRATEGIES.register(strategy, name)


def unregister_strategy(name: str) -> None:
    """Remove a registered strategy."""
    STRATEGIES.unregister(_own()[name], name)


def find_strategy(name: str, given: Mapping[str, Strategy] | None = None) -> Strategy:
    """The strategy of a name. `custom` is the one of that name, otherwise the only one that is not built in.

    `given` replaces the installed and registered ones.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    own = _own() if given is None else given
    if name in own:
        return own[name]
    if name == "custom" and len(own) == 1:
        return next(iter(own.values()))
    what = f"there is no strategy {name!r}"
    if name == "custom":
        what = f"{len(own)} custom strategies are registered, so one must be named" if own else "none is registered"
    known = ", ".join((*RESERVED, *sorted(own)))
    raise BadInput(what, where="interventions.strategy.type", todo=f"Known: {known}.")


def _own() -> dict[str, Strategy]:
    """Installed and registered strategies, by name; built-in ones take precedence."""
    return {name: cast("Strategy", strategy) for name, strategy in STRATEGIES.found()}
