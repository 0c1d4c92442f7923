"""Effect: the purpose of a call and the files that it names, according to its reading."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ..calls import CallReading, Kind, read_call
from ..core import Step, Tool

Effect = Literal["read", "write", "run", "answer", "think"]

_OF_KIND: dict[Kind, Effect] = {
    "answer": "answer", "plan": "think", "edit": "write", "read": "read", "web": "read", "agent": "run",
}  # fmt: skip
_CHANGES = frozenset(("write", "append", "delete", "move"))
PATHS = 16
"""Paths kept per call."""
LENGTH = 400
"""Maximum length of a path; a longer text is not a path."""
_LOOK = 2000
"""Characters of a command that are parsed."""
_SCRIPTS = ("command", "cmd", "code", "script", "input")


def reading_of(tool: Tool) -> CallReading:
    """The reading of a call."""
    return read_call(tool.name, tool.arguments)


def read_effect(tool: Tool, reading: CallReading) -> Effect:
    """The purpose of a call; a command that changes something is a write."""
    effect = _OF_KIND.get(reading.kind)
    if effect is not None:
        return effect
    if reading.kind in ("shell", "code") and "final_answer(" in command_of(tool):
        return "answer"
    if reading.only_prints or _only_waits(reading):
        return "think"
    return "write" if any(one.verb in _CHANGES or one.verb == "administer" for one in reading.effects) else "run"


def _only_waits(reading: CallReading) -> bool:
    """Whether a command does nothing: `true`, `:`."""
    programs = reading.programs
    return bool(programs) and all(program.name in (":", "true") for program in programs) and not reading.effects


def is_shell(reading: CallReading) -> bool:
    """Whether a call is a shell command."""
    return reading.kind == "shell"


def command_of(tool: Tool) -> str:
    """The beginning of a command or script."""
    return _script(tool.arguments)[:_LOOK]


def script_of(tool: Tool) -> str:
    """The text of a command or script; of a long one, its beginning and end."""
    text = _script(tool.arguments)
    return text if len(text) <= 2 * _LOOK else f"{text[:_LOOK]}\n{text[-_LOOK:]}"


def _script(arguments: dict[str, object]) -> str:
    for key in _SCRIPTS:
        value = arguments.get(key)
        if isinstance(value, str):
            return value
    return next((one for one in arguments.values() if isinstance(one, str)), "")


def wrote(step: Step, effect: Effect, failed: bool) -> bool:
    """Whether a completed call changed anything, as far as can be seen."""
    if step.paths is not None and (step.paths.written or step.paths.deleted):
        return True
    return effect == "write" and not failed


def read_paths(step: Step, reading: CallReading) -> list[str]:
    """The paths that a call names, in order, without duplicates: those that were seen to be touched first."""
    found: dict[str, None] = {}
    if step.paths is not None:
        for group in (step.paths.written, step.paths.deleted, step.paths.read):
            found.update(dict.fromkeys(group))
    found.update(dict.fromkeys(_files(reading)))
    return list(found)[:PATHS]


def _files(reading: CallReading) -> Iterator[str]:
    for effect in reading.effects:
        if (effect.file or (reading.kind == "web" and effect.target != effect.by)) and _is_path(effect.target):
            yield effect.target


def _is_path(target: str) -> bool:
    return 0 < len(target) <= LENGTH and " " not in target and "/**/" not in target


def written_paths(reading: CallReading) -> tuple[str, ...]:
    """The files that a call writes, changes or removes."""
    return tuple(path for path in reading.changed() if _is_path(path))[:PATHS]


def emptied_paths(reading: CallReading) -> list[str]:
    """The files that a command empties: by writing nothing to them, or by reading the file that it redirects to."""
    reads = {effect.target for effect in reading.effects if effect.verb == "read"}
    whole = {write.path: write.text for write in reading.writes if write.how == "whole"}
    empty = [path for path, text in whole.items() if not text]
    # The shell truncates a file before it starts the command that reads it.
    both = [one.target for one in reading.effects if one.verb == "write" and one.by == ">" and one.target in reads]
    return list(dict.fromkeys((*empty, *both)))
