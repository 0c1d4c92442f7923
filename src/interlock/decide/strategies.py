"""Strategies: which rung an issue calls for, before the rules of the ladder are applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from ..config import Interventions
from ..core import DESTRUCTIVE_ACTION, HALLUCINATION, LADDER, RESOURCE_SPIRAL, SCOPE_CREEP, BadInput, Issue
from .score import band


class Situation(Struct, frozen=True):
    """What a strategy decides on. `last_level` and `effectiveness` are None if there is none yet."""

    issue: Issue
    score: float
    combined: float
    escalation: int
    last_level: int | None
    effectiveness: float | None
    config: Interventions


Strategy = Callable[[Situation], int | str]
"""Gives a level of the ladder (0 to 4) or the name of a rung."""


def severity(situation: Situation) -> int:
    """The band of the combined score, each time."""
    return band(situation.combined)


def pattern_specific(situation: Situation) -> str:
    """The rung that the table names for the type and the severity."""
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

PROGRESSIVE = "progressive"
"""The default, which answers episodes instead of single issues: see `progressive.py`."""

BUILT_IN: Mapping[str, Strategy] = {
    "severity": severity,
    "pattern_specific": pattern_specific,
}


def level_from(answer: int | str, name: str) -> int:
    """A strategy's answer as a level that is on the ladder."""
    if isinstance(answer, str):
        if answer in LADDER:
            return [*LADDER].index(answer)
        raise BadInput(f"the strategy {name!r} returned {answer!r}", todo=f"Known levels: {', '.join(LADDER)}")
    return max(0, min(len(LADDER) - 1, int(answer)))
