"""Score: how bad an issue is, and which rung that alone would call for."""

from __future__ import annotations

import math

from ..core import Issue

BASE = {"low": 0.2, "medium": 0.5, "high": 0.8, "critical": 1.0}

PER_ESCALATION = 0.3
"""What each ineffective intervention on the same type adds."""

HIGHEST_ESCALATION = 3

BANDS = (0.3, 0.5, 0.7, 0.9)
"""From these on: reinforcement, throttling, rollback, emergency stop; below the first, soft correction."""

DIGITS = 9
"""Sums like 0.3 x 3 must meet their border; beyond these digits there is only noise."""


def score(issue: Issue) -> float:
    """How bad, 0..1. A missing severity is medium, a missing confidence 1, a missing impact 0."""
    base = BASE.get(issue.severity or "medium", BASE["medium"])
    return clamped(base * _share(issue.confidence, 1.0) * (1 + _share(issue.impact_factor, 0.0)))


def combined(issue_score: float, escalation: int) -> float:
    """The score with what was tried in vain; may exceed 1."""
    level = max(0, min(HIGHEST_ESCALATION, escalation))
    return round(issue_score + PER_ESCALATION * level, DIGITS)


def band(value: float) -> int:
    """The level of the ladder that a combined score calls for."""
    return sum(round(value, DIGITS) >= border for border in BANDS)


def clamped(value: float) -> float:
    return round(max(0.0, min(1.0, value)), DIGITS)


def _share(value: float | None, missing: float) -> float:
    # What is not a number says nothing, so it counts as missing.
    return missing if value is None or math.isnan(value) else max(0.0, min(1.0, value))
