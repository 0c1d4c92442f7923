"""Wrong usage in one line, and an unanswered question without a word."""

from __future__ import annotations

import sys

import typer
from typer._click.exceptions import NoArgsIsHelpError, UsageError

from .interrupt import INTERRUPTED
from .output import say_error

PLAINLY = {
    "a valid int range": "a whole number",
    "a valid integer": "a whole number",
    "a valid float range": "a number",
}
"""What the parser says of a value, and what a person would."""


def say_usage_error(error: UsageError) -> int:
    """Say what is wrong and where to read how it goes; the exit status."""
    if isinstance(error, NoArgsIsHelpError):
        error.show()
        return error.exit_code
    command = error.ctx.command_path if error.ctx is not None else "interlock"
    words = error.format_message().rstrip(".")
    for theirs, ours in PLAINLY.items():
        words = words.replace(theirs, ours)
    if words.startswith("Missing argument "):
        words = words[:17] + words[17:].strip("'.").upper()
    stop = "" if words.endswith("?") else "."
    say_error(f"{words[:1].lower()}{words[1:]}{stop} See {command} --help.", who=command)
    return error.exit_code


def leave_question(abort: typer.Abort) -> int:
    """Nobody answered, or somebody said no; the exit status."""
    if abort.__context__ is not None:
        # What comes next does not belong behind the question.
        sys.stderr.write("\n")
    return INTERRUPTED if isinstance(abort.__context__, KeyboardInterrupt) else 1


__all__ = ["UsageError", "leave_question", "say_usage_error"]
