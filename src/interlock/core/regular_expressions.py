"""Regular expressions that are compiled when they are first used: most processes use few of those that they import."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast


class _LatePattern:
    """Has what the compiled pattern has; after its first use as fast as that."""

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
    """As `re.compile`, for module level; a mistake in the pattern is found at its first use."""
    late = _LatePattern(pattern, lambda: engine(pattern, flags))
    _all.append(late)
    return cast("re.Pattern[str]", late)


def compile_late_patterns() -> None:
    """Compile all that are known so far, for a process that is about to need them and can take its time now."""
    for late in _all:
        _ = late.search
