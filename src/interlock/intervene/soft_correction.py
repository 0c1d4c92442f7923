"""Soft correction: exactly one message with guidance for the issue's type."""

from __future__ import annotations

from ..core import Inject, Issue, RunState
from .message import guidance
from .outcome import Continue
from .templates import BUILT_IN, Templates
from .values import values_for

NAME = "soft_correction"


def soft_correction(issue: Issue, state: RunState, now: float, templates: Templates = BUILT_IN) -> Continue:
    """Give the agent a hint. What the context lacks is left out."""
    text = templates.render(issue.type, values_for(issue, state, templates.placeholders(issue.type)))
    message = guidance(text, NAME, issue, state, now)
    return Continue(state=state, log=f"hint about {issue.type}", directives=(Inject(message),))
