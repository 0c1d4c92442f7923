"""The ladder: the five interventions by name and order, and what one leaves in the history."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

InterventionType = Literal[
    "soft_correction", "context_reinforcement", "resource_throttling", "checkpoint_rollback", "emergency_stop"
]

LADDER: tuple[InterventionType, ...] = (
    "soft_correction",
    "context_reinforcement",
    "resource_throttling",
    "checkpoint_rollback",
    "emergency_stop",
)
"""From the mildest to the strongest; the index is the level."""

Outcome = Literal["pending", "success", "failure", "not_applied", "held_back"]


class Intervention(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One answer to one issue. `type` is a rung of the ladder or the name of a custom intervention.

    `episode` is the problem that it answers; the strategies of the seed have none.
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
