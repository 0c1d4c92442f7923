"""Globs: which workspace paths a clause applies to; and regular expressions that are compiled on first use."""

from __future__ import annotations

import importlib
import posixpath
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, cast

from .errors import BadInput

WILD = re.compile(r"[*?\[]")


def check_glob(glob: str) -> str:
    """Return the glob if it is valid. Raises BadInput."""
    why = ""
    if not glob.strip() or not glob.strip("/. "):
        why = "is empty"
    elif glob[0] == "!":
        why = "starts with !"
    elif "\0" in glob or "\n" in glob:
        why = "contains a line break"
    elif ".." in glob.split("/"):
        why = "leaves the workspace"
    elif any("**" in part and part != "**" for part in glob.split("/")):
        why = "combines ** with other characters"
    elif not _brackets_close(glob):
        why = "has a [ that is not closed"
    if why:
        raise BadInput(f"the glob {glob!r} {why}", todo="Write it like src/**, tests/*.py or Makefile.")
    return glob


def matches(glob: str, path: str) -> bool:
    """Whether a glob matches a path or one of its parent folders."""
    return _compiled(glob).match(path) is not None


def may_match_below(glob: str, folder: str) -> bool:
    """Whether a glob with a fixed prefix can match something below a folder, which is then lost with the folder."""
    fixed = WILD.split(glob.removeprefix("./"), maxsplit=1)[0]
    return fixed.startswith(f"{folder.rstrip('/')}/")


def relative(path: str, workspace: str | None) -> str:
    """A path as globs see it: relative to the workspace if it is below it, otherwise unchanged."""
    path = posixpath.normpath(path)
    if workspace:
        root = workspace.rstrip("/")
        if path == root:
            return "."
        if path.startswith(f"{root}/"):
            return path[len(root) + 1 :]
    return path


def as_relative(glob: str, workspace: str | None) -> str:
    """A glob in the form that `relative` gives paths; `.` and the workspace itself mean everything."""
    found = glob.removeprefix("./")
    if workspace and glob.startswith(workspace.rstrip("/")):
        rest = glob[len(workspace.rstrip("/")) :]
        found = rest.lstrip("/") if not rest or rest[0] == "/" else found
    return found if found not in ("", ".") else "**"


@lru_cache(512)
def _compiled(glob: str) -> re.Pattern[str]:
    glob = glob.removeprefix("./")
    parts = [part for part in glob.split("/") if part]
    absolute = glob.startswith("/")
    if len(parts) == 1 and not absolute and parts != ["**"]:
        parts = ["**", *parts]
    pattern = "/" if absolute else ""
    for at, part in enumerate(parts):
        last = at == len(parts) - 1
        if part == "**":
            pattern += ".+" if last else "(?:[^/]+/)*"
        else:
            pattern += _part(part) + ("" if last else "/")
    if parts and parts[-1] != "**":
        pattern += "(?:/.*)?"
    return re.compile(pattern + r"\Z", re.DOTALL)


def _part(part: str) -> str:
    """Translate one path component of a glob to a regular expression."""
    found, at = "", 0
    while at < len(part):
        letter = part[at]
        if letter == "*":
            found += "[^/]*"
        elif letter == "?":
            found += "[^/]"
        elif letter == "[":
            end = part.index("]", at + 2)
            inside = part[at + 1 : end].replace("\\", r"\\")
            found += f"[{'^' + inside[1:] if inside[0] == '!' else inside}]"
            at = end
        else:
            found += re.escape(letter)
        at += 1
    return found


def _brackets_close(glob: str) -> bool:
    for part in glob.split("/"):
        try:
            re.compile(_part(part))
        except (ValueError, re.error):
            return False
    return True


class _LatePattern:
    """Has the attributes of the compiled pattern; as fast as that after its first use."""

    def __init__(self, pattern: str, compile_: Callable[[], Any]) -> None:
        self.pattern, self._compile = pattern, compile_

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = self._compile()
        self.__dict__.update((each, getattr(compiled, each)) for each in _OFTEN)
        return getattr(compiled, name)


_OFTEN = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")

_all: list[_LatePattern] = []


def late_pattern(pattern: str, flags: int = 0, engine: Callable[[str, int], Any] = re.compile) -> re.Pattern[str]:
    """Same as `re.compile`, for module level; an invalid pattern is only detected on first use."""
    late = _LatePattern(pattern, lambda: engine(pattern, flags))
    _all.append(late)
    return cast("re.Pattern[str]", late)


def span_search(pattern: Any) -> Callable[[bytes, int], tuple[int, int]]:
    """A search for a pattern of re2 through bytes, from a position: the span of the first match, or (-1, -1).

    Calls what the package compiled: its own method makes a generator and a match object for each search, which takes
    longer than most searches.
    """
    match, anywhere = pattern._regexp.Match, importlib.import_module("re2")._Anchor.UNANCHORED

    def search(text: bytes, at: int) -> tuple[int, int]:
        return cast("tuple[int, int]", match(anywhere, text, at, len(text))[0])

    return search


def compile_late_patterns() -> None:
    """Compile all patterns known so far, in a process that will need them soon and has time now."""
    for late in _all:
        _ = late.search
