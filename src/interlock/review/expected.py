"""Expected paths: whether a step stays where the task needs it."""

from __future__ import annotations

from collections.abc import Iterable

from ..core import Context
from .paths import resolve, zones
from .shell import Command
from .wordlist import name_set

MAX_PATHS = 64
"""Paths of one step that are looked at."""


class Expected:
    """Where a run is expected to work: the context's paths, else its workspace."""

    def __init__(self, context: Context, workspace: str | None) -> None:
        self.workspace = workspace
        given = [resolve(path, workspace) for path in context.expected_paths if path]
        self._roots = tuple(root.rstrip("/") or "/" for root in given) or (
            (workspace.rstrip("/") or "/",) if workspace else ()
        )
        self._prefixes = tuple(f"{root.rstrip('/')}/" for root in self._roots)
        self._mentioned = f"{context.original_prompt} {context.primary_goal}"

    def is_outside(self, commands: Iterable[Command]) -> bool:
        """Whether some path of the step lies outside; false where nothing is expected."""
        return bool(self._roots) and any(self._is_foreign(path) for path in paths_of(commands))

    def _is_foreign(self, path: str) -> bool:
        full = resolve(path, self.workspace)
        if full.startswith(self._prefixes) or full in self._roots:
            return False
        if not full.startswith(("/", "~")) or full.startswith("/dev/"):
            return full.startswith("..")
        if path.rstrip("/") in self._mentioned and len(path) > 3:
            return False
        return "temp" not in zones(full, None, None)


def paths_of(commands: Iterable[Command]) -> list[str]:
    """The words of a step that are paths: operands with a slash, and what redirections name."""
    found: list[str] = []
    for command in commands:
        found += [resolve(word, command.cwd) for word in command.args if is_path(word, command.program)]
        found += [redirect.target for redirect in command.redirects if redirect.target]
        if len(found) >= MAX_PATHS:
            break
    return found[:MAX_PATHS]


def is_path(word: str, program: str) -> bool:
    """Whether a word looks like the path of a file here."""
    first = word[:1]
    if not first or first in "-$<" or len(word) > 1024 or "://" in word or "\n" in word:
        return False
    return first in "/~." or ("/" in word and program in PATH_PROGRAMS)


PATH_PROGRAMS = name_set("rm mv cp cat tee ls mkdir touch chmod chown ln head tail find rmdir")
"""Programs whose plain operands are paths even without a leading slash."""
