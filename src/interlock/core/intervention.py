"""The ladder: the five interventions in order, and what each adds to the history and shows to people."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from .issue import Issue

InterventionType = Literal[
    "soft_correction", "context_reinforcement", "resource_throttling", "checkpoint_rollback", "emergency_stop"
]

LADDER: tuple[InterventionType, ...] = get_args(InterventionType)
"""From the mildest to the strongest; the index is the level."""

PAUSE = "pause_for_person"
"""The name of the top rung if the run waits for a person instead of being stopped."""

SHORT_NAMES = {
    "soft_correction": "hint",
    "context_reinforcement": "reminder",
    "resource_throttling": "throttle",
    "checkpoint_rollback": "rollback",
    "emergency_stop": "emergency stop",
    PAUSE: "pause for a person",
}
"""The display names of the rungs."""


def short_name(intervention: str) -> str:
    """A short display name of an intervention; a custom one keeps its own name."""
    return SHORT_NAMES.get(intervention, intervention.replace("_", " "))


Outcome = Literal["pending", "success", "failure", "not_applied", "held_back", "not_judged"]


class Intervention(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One answer to one issue. `type` is a rung of the ladder or the name of a custom intervention.

    `episode` is the problem that it answers; strategies that judge single issues have none.
    """

    id: str
    type: str
    level: int
    issue_id: str
    issue_type: str
    step: int
    time: float
    outcome: Outcome = "pending"
    reason: str = ""
    details: dict[str, object] = {}
    episode: str | None = None


class Plan(Struct, frozen=True, kw_only=True):
    """What to do, within which constraints, how to tell that it worked, and what follows if it did not."""

    id: str
    issue: Issue
    steps: tuple[str, ...]
    constraints: tuple[str, ...]
    success_criteria: tuple[str, ...]
    escalation_path: tuple[str, ...]


class RollbackEntry(Struct, frozen=True, kw_only=True):
    """A rollback in the run's history."""

    from_state: dict[str, object]
    to_checkpoint: str
    time: float
    type: Literal["rollback"] = "rollback"
