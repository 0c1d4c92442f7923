"""Paths: the files and places that a call names."""

from __future__ import annotations

import re

from ..core import Step, Tool
from .effect import Effect, script_of

PATHS = 16
"""Paths read of one call."""
LENGTH = 400
"""Characters of a path; longer ones are no paths."""

_KEYS = frozenset((
    "path", "file", "file_path", "filepath", "filename", "file_name", "dir", "directory", "folder", "cwd", "url",
    "uri", "target", "notebook_path", "source", "destination", "src", "dst", "old_path", "new_path", "root",
))  # fmt: skip
_IN_COMMAND = re.compile(
    r"(?:^|[\s\"'=(<>|;&:,])"
    r"((?:~|\.{0,2}/|[\w@%+-]+/)[\w@%+./~-]*|[\w@%+-]+\.[A-Za-z]\w{0,5})"
    r"(?=$|[\s\"')<>|;&:,])"
)


def read_paths(step: Step, tool: Tool, effect: Effect) -> list[str]:
    """The paths that a call names, in order, each once."""
    found: dict[str, None] = {}
    if step.paths is not None:
        for group in (step.paths.written, step.paths.deleted, step.paths.read):
            found.update(dict.fromkeys(group))
    for key, value in tool.arguments.items():
        if isinstance(value, str) and key.lower() in _KEYS and 0 < len(value) <= LENGTH:
            found[value] = None
    if not found and effect in ("run", "write"):
        found.update(dict.fromkeys(_IN_COMMAND.findall(script_of(tool)[:1000])))
    return list(found)[:PATHS]
