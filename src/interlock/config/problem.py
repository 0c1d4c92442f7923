"""ConfigProblem: an error or warning about a configuration; and suggestions for unknown keys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct, inspect

from ..core import BadInput
from .key_types import join, keys_of, sections, sections_with


class ConfigProblem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is wrong with the key `path`, in which file and line or environment variable, and what to do."""

    what: str
    path: str = ""
    source: str = ""
    line: int | None = None
    todo: str = ""
    level: Literal["error", "warning"] = "error"

    @property
    def where(self) -> str:
        return f"{self.source}:{self.line}" if self.source and self.line else self.source

    def error(self) -> BadInput:
        """This problem as an exception."""
        return BadInput(f"{self.path}: {self.what}" if self.path else self.what, where=self.where, todo=self.todo)

    def __str__(self) -> str:
        return str(self.error())


CLOSE = 60
"""The similarity (0 to 100) from which a name is suggested."""

PART = 4
"""Shorter words are part of too many others to suggest one."""


REMOVED = {
    "detect.judge": ("sure", "threshold", "timeout_seconds", "block"),
    "notifications": ("most_per_hour",),
}
"""Keys of earlier versions that changed nothing worth choosing, by section."""


def describe_unknown_key(name: str, path: str, section: inspect.StructType) -> tuple[str, str]:
    """The problem with a key that the section does not have, and a suggestion."""
    if name in REMOVED.get(path, ()):
        return "was removed: Interlock chooses it itself", "Delete the line."
    if homes := [home for home in sections_with(name) if home != path]:
        # At the outermost level a key has no section to belong to.
        sections_named = [home or "the outermost level" for home in homes]
        return f"{name} belongs under {_either(sections_named)}", "Move it there."
    own = nearest(name, keys_of(section))
    if own is None:
        everywhere = {join(home, key): key for home, kind in sections().items() for key in keys_of(kind)}
        elsewhere = nearest(name, set(everywhere.values()), cutoff=80)
        if elsewhere:
            home = next(where for where, key in everywhere.items() if key == elsewhere)
            return "unknown key", f"Did you mean {home}?"
    if own is None:
        return "unknown key", f"Known here: {', '.join(keys_of(section))}."
    return "unknown key", f"Did you mean {own}?"


def nearest(word: str, words: Iterable[str], cutoff: int = CLOSE) -> str | None:
    """The most similar word, else one that contains this one, if any."""
    from rapidfuzz import process
    from rapidfuzz.fuzz import partial_ratio, ratio

    choices = sorted(words)
    found = process.extractOne(word.lower(), choices, scorer=ratio, score_cutoff=cutoff)
    if found is None and len(word) >= PART:
        found = process.extractOne(word.lower(), choices, scorer=partial_ratio, score_cutoff=90)
    return str(found[0]) if found else None


def _either(sections_named: list[str]) -> str:
    *rest, last = sections_named[:3]
    return f"{', '.join(rest)} or {last}" if rest else last
