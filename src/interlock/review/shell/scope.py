"""ShellScope: what a script has set so far, as far as it can be known without running it."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Generic, TypeVar

from tree_sitter import Node

from .model import MAX_TEXT, KnownFile

MAX_KNOWN_FILES = 32
"""Files kept per script, so that a file that is written and then run is parsed."""

MAX_ASKED = 256
"""Files of earlier steps that one script may refer to."""

BELOW = "/**"
"""Suffix of a path that stands for every file below it."""

PORTS = "/dev/tcp/localhost/"
CONTEXT = "~/.docker/context"
CHOICES = (PORTS, CONTEXT)
"""Not files, but what earlier steps have chosen: ports that lead to another machine, as a shell writes them, and the
engine that `docker context use` names. The commands that depend on them ask for them."""

ENVIRONMENT = {
    "HOME": "~",
    "TMPDIR": "/tmp",
    "TMP": "/tmp",
    "TEMP": "/tmp",
    "IFS": " ",
    "SHELL": "/bin/sh",
    "EUID": "0",
}
"""Variables that every shell has; the home directory is always written `~`."""

UNKNOWN = KnownFile()


T = TypeVar("T")


class OfFiles(Generic[T]):
    """A value computed from the files of earlier steps, cached while they are the same mapping."""

    def __init__(self, work_out: Callable[[Mapping[str, KnownFile]], T]) -> None:
        self._work_out = work_out
        self._last: tuple[Mapping[str, KnownFile], T] | None = None

    def __call__(self, known: Mapping[str, KnownFile]) -> T:
        last = self._last
        if last is None or last[0] is not known:
            last = self._last = (known, self._work_out(known))
        return last[1]


last_names = OfFiles(lambda known: frozenset(place.rpartition("/")[2] for place in known if place != CONTEXT))
stems_of = OfFiles(lambda known: frozenset(name.partition(".")[0] for name in last_names(known)))
_linked = OfFiles(lambda known: tuple((place, file.link) for place, file in known.items() if file.link))
_ports = OfFiles(lambda known: frozenset(place[len(PORTS) :] for place in known if place.startswith(PORTS)))
_cloned = OfFiles(lambda known: {place: file.cloned for place, file in known.items() if file.cloned})


class Files:
    """The files that a script creates and clones, and the files of earlier steps (`known`) that it refers to."""

    __slots__ = ("asked", "cloned", "known", "linked", "made", "ports")

    def __init__(self, known: Mapping[str, KnownFile] | None = None) -> None:
        self.known: Mapping[str, KnownFile] = known or {}
        self.made: dict[str, KnownFile] = {}
        self.asked: dict[str, str] = {}
        self.linked = _linked(known) if known else ()
        self.cloned = dict(_cloned(known)) if known else {}
        self.ports: frozenset[str] = _ports(known) if known else frozenset()

    def get(self, place: str, path: str) -> KnownFile:
        """What is known about a file at this full path; `path` is the path as the script writes it."""
        found = self.made.get(place)
        if found is not None:
            return found
        if len(self.asked) < MAX_ASKED:
            self.asked[place] = path
        return find(self.known, place, path) or UNKNOWN if self.known else UNKNOWN

    def put(self, place: str, file: KnownFile) -> None:
        if place in self.made or len(self.made) < MAX_KNOWN_FILES:
            self.made[place] = file


def find(known: Mapping[str, KnownFile], place: str, path: str) -> KnownFile | None:
    """The file of an earlier step at a path; a relative path also matches a single file that ends in it.

    A shell may still be in the folder that an earlier step changed to.
    """
    exact = known.get(place)
    if exact is not None or path[:1] in ("/", "~", "$", ""):
        return exact
    if path.rpartition("/")[2] not in last_names(known):
        return None
    end = f"/{path.removeprefix('./')}"
    found = [file for name, file in known.items() if name.endswith(end)]
    return found[0] if len(found) == 1 else None


class ShellScope:
    """Variables, arrays, functions, aliases, files, links, working directory and parameters."""

    __slots__ = ("aliases", "arrays", "cwd", "files", "functions", "links", "params", "variables", "via")

    def __init__(self, cwd: str | None = None, files: Files | None = None) -> None:
        self.variables: dict[str, str] = {}
        self.arrays: dict[str, tuple[str, ...]] = {}
        self.functions: dict[str, Node] = {}
        self.aliases: dict[str, str] = {}
        self.files = files or Files()
        self.cwd = cwd
        self.links: dict[str, str] = {}
        if self.files.linked:
            here = f"{cwd}/" if cwd is not None else ""
            # Links created by earlier steps, as this scope would write them.
            self.links = {name.removeprefix(here): link for name, link in self.files.linked}
        self.params: tuple[str, ...] | None = None
        self.via: tuple[str, ...] = ()

    def copy(self) -> ShellScope:
        """A copy for a subshell, whose changes stay there."""
        other = object.__new__(ShellScope)
        other.cwd = self.cwd
        other.files = self.files
        other.variables = dict(self.variables)
        other.arrays = dict(self.arrays)
        other.functions = dict(self.functions)
        other.aliases = dict(self.aliases)
        other.links = self.links
        other.params = self.params
        other.via = self.via
        return other

    def value(self, name: str) -> str | None:
        """The value of a variable or parameter; None if it is unknown."""
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

    @contextmanager
    def having(self, variables: Mapping[str, str]) -> Iterator[None]:
        """Set variables within this block, then restore them."""
        before = {name: self.variables.get(name) for name in variables}
        self.variables.update(variables)
        try:
            yield
        finally:
            for name, value in before.items():
                self.variables.pop(name, None)
                if value is not None:
                    self.variables[name] = value

    def place(self, path: str) -> str:
        """The normalised path of a file: `a.sh`, `./a.sh` and `$PWD/a.sh` are the same."""
        if self.cwd is not None and path[:1] not in ("/", "~", "$"):
            path = f"{self.cwd}/{path}"
        if "/." not in path and "//" not in path and path[:1] not in ("", ".") and path[-1] != "/":
            return path
        return posixpath.normpath(path)

    def file(self, path: str) -> KnownFile:
        """What is known about a file written, fetched or copied by this script or an earlier step."""
        path = self.links.get(path.removeprefix("./"), path) if self.links else path
        return self.files.get(self.place(path), path)

    def remember(self, path: str, text: str | None, *, more: bool = False, secret: str = "") -> None:
        """Record the text of a file that the script writes or appends to."""
        place = self.place(path)
        before = self.files.made.get(place)
        if more and before is not None:
            text = f"{before.text}\n{text or ''}" if before.text is not None else text
            secret = secret or before.secret
        if text is None and not secret:
            self.files.made.pop(place, None)
            return
        self.files.put(place, KnownFile(None if text is None else text[:MAX_TEXT], secret=secret))

    def note(self, path: str, file: KnownFile) -> None:
        """Record other facts about a file: where it was fetched from, which program it is."""
        self.files.put(self.place(path), file)

    def recall(self, path: str) -> str | None:
        """The text of a file written by this script or an earlier step; None if it is unknown."""
        return self.file(path).text

    def below(self, folder: str) -> Iterator[tuple[str, KnownFile]]:
        """Every known file below a folder: those of this script, then those of earlier steps."""
        place = self.place(folder)
        prefix = "" if place == "." else f"{place.rstrip('/')}/"
        self.files.asked.setdefault(f"{place}{BELOW}", folder)
        for files in (self.files.made, self.files.known):
            for name, file in list(files.items()):
                if name.startswith(prefix) and (files is self.files.made or name not in self.files.made):
                    yield name, file

    def evidence(self, path: str) -> str:
        """The file's description in a review, if an earlier step created it; otherwise empty."""
        step = self.file(path).step
        return f"{path}, written in step {step}" if step >= 0 else ""


def below(scope: ShellScope, program: str) -> ShellScope:
    """The scope inside a wrapper."""
    inner = scope.copy()
    inner.via = (*scope.via, program)
    return inner
