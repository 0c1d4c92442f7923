"""Issue: a problem that a detector found, with the steps that prove it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .stuck import Stuck

Severity = Literal["low", "medium", "high", "critical"]

SEVERITIES: tuple[Severity, ...] = ("low", "medium", "high", "critical")

REPETITIVE_ERRORS = "repetitive_errors"
LOOP = "loop"
SCOPE_CREEP = "scope_creep"
GOAL_DRIFT = "goal_drift"
RESOURCE_SPIRAL = "resource_spiral"
EXPLORATION_WANDERING = "exploration_wandering"
HALLUCINATION = "hallucination"
DESTRUCTIVE_ACTION = "destructive_action"
LONG_WAIT = "long_wait"
BROKEN_CALLS = "broken_calls"

ISSUE_TYPES = (
    REPETITIVE_ERRORS,
    LOOP,
    SCOPE_CREEP,
    GOAL_DRIFT,
    RESOURCE_SPIRAL,
    EXPLORATION_WANDERING,
    HALLUCINATION,
    DESTRUCTIVE_ACTION,
    LONG_WAIT,
    BROKEN_CALLS,
)
"""The types that ship; plug-ins add their own names."""


class Issue(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A problem: what, how bad, how sure, and why.

    `id` is stable for the same finding of the same run (`type:started_step:step` where nothing better is available).
    `step` is where the alarm rose, `started_step` where the trouble began. A missing severity counts as medium,
    a missing confidence as 1, a missing impact as 0. `stuck` says what it is about, for following it; an issue
    without one is followed by its type.
    """

    id: str
    type: str
    step: int
    description: str
    severity: Severity | None = None
    confidence: float | None = None
    impact_factor: float | None = None
    details: dict[str, object] = {}
    evidence: tuple[int, ...] = ()
    started_step: int | None = None
    agent: str | None = None
    stuck: Stuck | None = None
