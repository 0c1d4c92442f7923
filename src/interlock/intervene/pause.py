"""Pause for a person: what is done where a stop is switched off or the limit of interventions is reached."""

from __future__ import annotations

from ..core import Hold, Issue, Notify, RunState
from .message import one_line
from .outcome import RecoveryNeeded
from .plan import make_plan


def pause_for_person(issue: Issue, state: RunState, now: float, why: str) -> RecoveryNeeded:
    """Let nothing through until a person says so, and say what the person can do."""
    text = f"{why}: {one_line(issue.description or issue.type)}"
    return RecoveryNeeded(
        state=state,
        plan=make_plan(issue, state, now, why),
        log=f"paused for a person: {why}",
        directives=(
            Hold(text, kind="pause"),
            Notify(f"Run {state.run_id} needs a person", text, level="warning"),
        ),
    )
