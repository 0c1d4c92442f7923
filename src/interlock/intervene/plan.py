"""Plan: how a run that cannot help itself can be helped, and the pause in which it waits for that."""

from __future__ import annotations

import hashlib

from msgspec import Struct

from ..core import Issue, RunState
from .advice import advice_for


class Plan(Struct, frozen=True, kw_only=True):
    """What to do, within which bounds, how to know that it worked, and what comes if it did not."""

    id: str
    issue: Issue
    steps: tuple[str, ...]
    constraints: tuple[str, ...]
    success_criteria: tuple[str, ...]
    escalation_path: tuple[str, ...]


def make_plan(issue: Issue, state: RunState, now: float, why: str, *, quiet_steps: int = 10) -> Plan:
    """A recovery plan for an issue that no automatic intervention may answer any more."""
    return Plan(
        id=stable_id("plan", state.run_id, issue.id, str(now)),
        issue=issue,
        steps=(
            f"Look at what happened: {why}.",
            f"See the issue: {issue.description or issue.type}",
            *advice_for(issue).immediate,
            "Resume the run, or cancel it.",
        ),
        constraints=(*state.context.constraints, *state.context.boundaries),
        success_criteria=(
            f"No {issue.type} for {quiet_steps} steps after resuming",
            "The task goes on: files change or checks pass",
        ),
        escalation_path=("a person takes this plan", "the run stays paused until then", "emergency_stop"),
    )


def stable_id(prefix: str, *parts: str) -> str:
    """An id that the same inputs always give: pure rooms have no randomness."""
    return f"{prefix}-{hashlib.sha256(chr(0).join(parts).encode('utf-8', 'replace')).hexdigest()[:10]}"
