"""Difference: which lines differ, as a unified diff, as counts and as ranges to type again."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct


class Changes(Struct, frozen=True):
    """Lines that are missing, that are too many, and that came out differently."""

    lost: int = 0
    added: int = 0
    changed: int = 0


class DifferingLines(Struct, frozen=True):
    """A differing stretch: these lines of the actual text (0-based, end exclusive) should read `expected`."""

    start: int
    end: int
    expected: tuple[str, ...]


def unified_diff(path: str, expected: str, actual: str) -> list[str]:
    """Unified diff from expected to actual, without line ends."""
    return list(
        _unified_diff(expected.splitlines(), actual.splitlines(), f"expected/{path}", f"actual/{path}", lineterm="")
    ) or ["only the line break at the end of the file differs"]


def count_changes(expected: str, actual: str) -> Changes:
    """Count differing lines."""
    lost = added = changed = 0
    for tag, i1, i2, j1, j2 in _opcodes(expected.splitlines(), actual.splitlines()):
        if tag != "equal":
            both = min(i2 - i1, j2 - j1)
            changed += both
            lost += i2 - i1 - both
            added += j2 - j1 - both
    return Changes(lost, added, changed)


def differing_sections(expected: list[str], actual: list[str]) -> list[DifferingLines]:
    """The stretches of `actual` that differ, last one first, so that repairing one moves none of the rest."""
    return [
        DifferingLines(j1, j2, tuple(expected[i1:i2]))
        for tag, i1, i2, j1, j2 in reversed(_opcodes(expected, actual))
        if tag != "equal"
    ]


def _opcodes(expected: list[str], actual: list[str]) -> list[tuple[str, int, int, int, int]]:
    """Opcodes over lines; autojunk keeps files of a hundred thousand lines fast, and costs no correctness."""
    return [tuple(code) for code in _SequenceMatcher(None, expected, actual).get_opcodes()]


def _fastest() -> tuple[Any, Callable[..., Iterable[str]]]:
    try:
        import cydifflib
    except ImportError:
        return difflib.SequenceMatcher, difflib.unified_diff
    return cydifflib.SequenceMatcher, cydifflib.unified_diff


_SequenceMatcher, _unified_diff = _fastest()
