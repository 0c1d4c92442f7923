"""ExclusionPolicy: what a checkpoint leaves out, and by whose word."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable
from fnmatch import translate

DEEPEST = 512
"""Folders below each other that are followed; no one works deeper, and hostile trees do."""

_SPECIAL = {
    stat.S_IFSOCK: "a socket",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}

SPECIAL_WORDS = frozenset(_SPECIAL.values())


class ExclusionPolicy:
    """Patterns of names (`*.log`, `node_modules`) or of paths (`web/dist`) that are left out."""

    def __init__(self, patterns: tuple[str, ...] = ()) -> None:
        self.patterns = tuple(plain for pattern in patterns if (plain := pattern.strip("/")))
        self._names = _any_of([pattern for pattern in self.patterns if "/" not in pattern])
        self._paths = _any_of([pattern for pattern in self.patterns if "/" in pattern])

    def excludes(self, path: str) -> bool:
        if not self.patterns:
            return False
        return bool(
            (self._names is not None and self._names(path.rpartition("/")[2]))
            or (self._paths is not None and self._paths(path))
        )


def special(mode: int) -> str | None:
    """What kind of special file this is, if it is one; those are never opened."""
    return _SPECIAL.get(stat.S_IFMT(mode))


def _any_of(patterns: list[str]) -> Callable[[str], re.Match[str] | None] | None:
    return re.compile("|".join(translate(pattern) for pattern in patterns)).match if patterns else None
