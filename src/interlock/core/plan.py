"""What interventions leave behind for people: a recovery plan, and the mark of a rollback."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .issue import Issue


class Plan(Struct, frozen=True, kw_only=True):
    """What to do, within which bounds, how to know that it worked, and what comes if it did not."""

    id: str
    issue: Issue
    steps: tuple[str, ...]
    constraints: tuple[str, ...]
    success_criteria: tuple[str, ...]
    escalation_path: tuple[str, ...]


class RollbackEntry(Struct, frozen=True, kw_only=True):
    """What a rollback leaves in the run's history."""

    from_state: dict[str, object]
    to_checkpoint: str
    time: float
    type: Literal["rollback"] = "rollback"
