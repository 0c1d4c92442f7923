"""Scope: what a script has set so far, as far as it can be known without running it."""

from __future__ import annotations

import posixpath

from tree_sitter import Node

from .model import MAX_TEXT

MAX_KNOWN_FILES = 32
"""Files whose text is remembered, so that a script that is written and then run is read."""

ENVIRONMENT = {
    "HOME": "~",
    "TMPDIR": "/tmp",
    "TMP": "/tmp",
    "TEMP": "/tmp",
    "IFS": " ",
    "SHELL": "/bin/sh",
    "EUID": "0",
}
"""Variables that every shell has; the home directory is written `~` throughout."""


class Scope:
    """Variables, arrays, functions, aliases, files written and fetched, links, working directory and parameters."""

    __slots__ = ("aliases", "arrays", "cwd", "fetched", "files", "functions", "links", "params", "variables", "via")

    def __init__(self, cwd: str | None = None) -> None:
        self.variables: dict[str, str] = {}
        self.arrays: dict[str, tuple[str, ...]] = {}
        self.functions: dict[str, Node] = {}
        self.aliases: dict[str, str] = {}
        self.files: dict[str, str] = {}
        self.fetched: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.cwd = cwd
        self.params: tuple[str, ...] | None = None
        self.via: tuple[str, ...] = ()

    def copy(self) -> Scope:
        """A subshell's scope: what is set there stays there."""
        other = Scope(self.cwd)
        other.variables = dict(self.variables)
        other.arrays = dict(self.arrays)
        other.functions = dict(self.functions)
        other.aliases = dict(self.aliases)
        other.files, other.fetched, other.links = self.files, self.fetched, self.links
        other.params = self.params
        other.via = self.via
        return other

    def value(self, name: str) -> str | None:
        """The value of a variable or parameter; None where it is not known."""
        if name in self.variables:
            return self.variables[name]
        if name == "PWD":
            return self.cwd or "."
        if name in ENVIRONMENT:
            return ENVIRONMENT[name]
        if self.params is not None:
            if name.isdigit():
                index = int(name[:6])
                return self.params[index] if index < len(self.params) else ""
            if name in ("@", "*"):
                return " ".join(self.params[1:])
        return None

    def place(self, path: str) -> str:
        """The one name of a file, however it is spelled: `a.sh`, `./a.sh` and `$PWD/a.sh` are the same."""
        if self.cwd is not None and path[:1] not in ("/", "~", "$"):
            path = f"{self.cwd}/{path}"
        return posixpath.normpath(path)

    def remember(self, path: str, text: str, *, more: bool = False) -> None:
        """Keep the text of a file that the script writes, or adds to."""
        place = self.place(path)
        if more and place in self.files:
            text = f"{self.files[place]}\n{text}"
        if place in self.files or len(self.files) < MAX_KNOWN_FILES:
            self.files[place] = text[:MAX_TEXT]

    def recall(self, path: str) -> str | None:
        """The text of a file that the script has written."""
        if not self.files:
            return None
        return self.files.get(self.place(self.links.get(path.removeprefix("./"), path)))


def below(scope: Scope, program: str) -> Scope:
    """The scope inside a wrapper."""
    inner = scope.copy()
    inner.via = (*scope.via, program)
    return inner
