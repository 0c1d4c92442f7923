"""Rough review: a bounded-time fallback for a call that was not reviewed in time."""

from __future__ import annotations

from ..calls import COMMANDS, kind_of, read_script
from ..core import Review, Step, Tool
from .judgement import strongest_action

READING = frozenset(("read", "plan", "answer"))


MAX_TEXT = 4_096
"""Characters of a command that are read; a longer one is assumed to act."""


def rough_review(step: Step) -> Review:
    """Allow tools that only read; block those that may write, send or run anything, since they were not reviewed."""
    tool = step.tool
    if tool is None or step.kind != "tool_call" or kind_of(tool.name)[0] in READING or _only_reads(tool):
        return Review("allow", action="read")
    return Review(
        "block",
        risk=0.8,
        rules=("review.unjudged",),
        reason="The call could not be reviewed in time, and it may write or send.",
        instead="Try again, or take a smaller step.",
        action="unknown",
    )


def _only_reads(tool: Tool) -> bool:
    """Whether a short command only reads."""
    text = next((value for key in COMMANDS if isinstance(value := tool.arguments.get(key), str)), "")
    if kind_of(tool.name)[0] != "shell" or not text or len(text) > MAX_TEXT:
        return False
    return strongest_action(read_script(text))[0] == "read"
