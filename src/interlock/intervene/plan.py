"""Plan: how a run that cannot help itself can be helped, and the pause in which it waits for that."""

from __future__ import annotations

import hashlib

from ..core import Issue, Plan, RunState
from .advice import advice_for


def make_plan(issue: Issue, state: RunState, now: float, why: str, *, quiet_steps: int = 10) -> Plan:
    """A recovery plan for an issue that no automatic intervention may answer any more."""
    return Plan(
        id=stable_id("plan", state.run_id, issue.id, str(now)),
        issue=issue,
        steps=(
            f"Review what happened: {why}.",
            f"See the issue: {issue.description or issue.type}",
            *advice_for(issue).immediate,
            "Resume the run, or cancel it.",
        ),
        constraints=(*state.context.constraints, *state.context.boundaries),
        success_criteria=(
            f"No {issue.type} for {quiet_steps} steps after resuming",
            "The task makes progress: files change or checks pass",
        ),
        escalation_path=("a person accepts this plan", "the run stays paused until then", "emergency_stop"),
    )


def stable_id(prefix: str, *parts: str) -> str:
    """An id that the same inputs always give: pure rooms have no randomness."""
    return f"{prefix}-{hashlib.sha256(chr(0).join(parts).encode('utf-8', 'replace')).hexdigest()[:10]}"
