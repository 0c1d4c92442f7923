"""Soft correction: exactly one message with guidance for the issue's type."""

from __future__ import annotations

from ..core import LONG_WAIT, Directive, Inject, Issue, Notify, RunState
from .message import FIRST, Attempt, guidance, one_line
from .outcome import Continue
from .templates import BUILT_IN, Templates, values_for

NAME = "soft_correction"


def soft_correction(
    issue: Issue, state: RunState, now: float, templates: Templates = BUILT_IN, attempt: Attempt = FIRST
) -> Continue:
    """Give the agent a hint. Missing context is omitted; what happened since the last hint comes first."""
    text = templates.render(issue.type, values_for(issue, state, templates.placeholders(issue.type)))
    text = "\n".join(filter(None, (attempt.news(), text, f"Where: {attempt.place}" if attempt.place else "")))
    message = guidance(text, NAME, issue, state, now)
    directives: tuple[Directive, ...] = (Inject(message),)
    if issue.type == LONG_WAIT:
        # A wait is not the agent's fault: a person may know what it is waiting for.
        directives += (
            Notify(
                f"Run {state.run_id} has been waiting for a long time", one_line(issue.description), level="warning"
            ),
        )
    return Continue(state=state, log=f"hint about {issue.type.replace('_', ' ')}", directives=directives)
