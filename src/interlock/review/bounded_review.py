"""Rough review: a bounded-time fallback, from a call's words alone, for a call that was not reviewed in time."""

from __future__ import annotations

from ..core import Review, Step
from .programs import Action, action_of
from .shell import Command
from .shell.names import program_name
from .shell.scope import ShellScope
from .shell.word_scan import rough_commands
from .tools import COMMAND_KEYS, MAX_NAME, kind_of, text_of

MAX_TEXT = 4_096
"""Characters of a command that are checked; a longer one is assumed to act."""

READING = frozenset(("files", "harmless"))


def rough_review(step: Step) -> Review:
    """Allow calls that only read; block those that may write, send or run anything, since they were not reviewed."""
    action = rough_action(step)
    if action == "read":
        return Review("allow", action="read")
    return Review(
        "block",
        risk=0.8,
        rules=("review.unjudged",),
        reason="The call could not be reviewed in time, and it may write or send.",
        instead="Try again, or take a smaller step.",
        action=action,
    )


def rough_action(step: Step) -> Action:
    """The strongest action that a call may perform, by the names of its programs."""
    if step.tool is None or step.kind != "tool_call":
        return "read"
    name, kind = kind_of(step.tool.name[:MAX_NAME])
    if kind in READING:
        reads = kind == "harmless" or not any(verb in name for verb in WRITING)
        return "read" if reads else "modify"
    if kind != "shell":
        return "unknown"
    text = text_of(step.tool.arguments, COMMAND_KEYS)[1]
    if len(text) > MAX_TEXT or ">" in text or "$(" in text or "`" in text:
        return "unknown"
    for words, _ in rough_commands(text, ShellScope()):
        if words:
            action = action_of(Command(program=program_name(words[0]), args=tuple(words[1:])))
            if action != "read":
                return action
    return "read"


WRITING = ("write", "create", "delete", "remove", "move", "rename", "save", "append", "edit", "upload", "put", "mkdir")
