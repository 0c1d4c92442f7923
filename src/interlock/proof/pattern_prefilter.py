"""Sieve: tells in a linear pass which of many patterns can match anywhere in a text at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

import re2

_PIECE = re.compile(
    r"(?P<look>\(\?<?[=!])|(?P<anchor>\\[AZ])|(?P<space>\\s| )|(?P<word>\\w)|(?P<digit>\\d)|(?P<back>\\[1-9])"
    r"|(?P<gap>\[\^(?:\\.|[^\]\\])*\])|(?P<one>\[(?:\\.|[^\]\\])*\])|(?P<count>\{[01],\d+\}\??)|(?P<other>\\.|.)",
    re.DOTALL,
)
_SPACE = r"[\s\x0b\x1c-\x1f\x{85}\pZ✅☑✔✓🎉🟢]"
_GAP = r"[^\n]"
_AS = {"anchor": "", "word": r"\S", "digit": r"\pN", "back": r"\pN+", "gap": _GAP, "count": "*"}


class Sieve:
    """Patterns that ignore case, loosened: each is found wherever it would match in what a text says, and oftener.

    The text may still have markup, quotations and check marks in it, which are left out before the patterns read it.
    """

    def __init__(self, patterns: Sequence[re.Pattern[str]], apart: Sequence[int] = ()) -> None:
        """`apart`: places of patterns with wide gaps, which multiply the states of others."""
        self._patterns = patterns
        self._groups = (tuple(at for at in range(len(patterns)) if at not in apart), tuple(apart))

    @cached_property
    def _sets(self) -> list[tuple[re2.Set, tuple[int, ...]]]:
        """Made when it is first asked: that takes as long as reading hundreds of messages."""
        sets: list[tuple[re2.Set, tuple[int, ...]]] = []
        for group in self._groups:
            made = re2.Set.SearchSet()
            for at in group:
                made.Add(f"(?i){_loosened(self._patterns[at].pattern)}")
            made.Compile()
            sets.append((made, group))
        return sets

    def possible(self, text: str) -> list[int]:
        """The patterns that may match, by their places, in order."""
        plain = text.encode("utf-8", "replace").translate(None, b"*_#")
        found: list[int] = []
        for made, group in self._sets:
            if hits := made.Match(plain):
                found += [group[hit] for hit in hits]
        found.sort()
        return found


def _loosened(pattern: str) -> str:
    """A pattern as RE2 reads it: without lookaround, anchors and counts, with wide gaps and spaces."""
    found: list[str] = []
    depth = 0
    for piece in _PIECE.finditer(pattern):
        kind, text = piece.lastgroup or "", piece[0]
        if depth or kind == "look":
            depth += text.startswith("(") - (text == ")")
        elif kind == "space":
            found.append(f"{_SPACE}" if text == r"\s" else f"(?:{_SPACE}+)")
        elif kind == "one":
            text = text.replace(r"\w", r"\S").replace(r"\d", r"\pN")
            found.append(f"(?:{text}|{_SPACE}+)" if " " in text else text)
        else:
            found.append(_AS.get(kind, text))
    return "".join(found)
