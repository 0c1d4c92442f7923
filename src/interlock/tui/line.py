"""Line: one row of the screen as pieces of text, each with the name of its style; safe for any terminal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from rich.cells import cell_len, set_cell_size

Piece = tuple[str, str]
"""Text, and a style's name in the palette; an empty name is plain text."""

Line = tuple[Piece, ...]

_SPACES = re.compile(r"\s+")
_SAFE = re.compile(r"[\x20-\x7e]*\Z")
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
"""What an agent may have written to move the cursor, to hide text or to turn it round."""


def clean(text: str) -> str:
    """Text of an agent, without anything that a terminal would obey instead of show."""
    if _SAFE.match(text):
        return text
    return "".join("·" if unicodedata.category(each) in _HIDDEN and each not in "\n\t" else each for each in text)


def flat(text: str, limit: int = 400) -> str:
    """The beginning of a text in one row."""
    return clean(_SPACES.sub(" ", text[: 2 * limit]).strip()[:limit])


def fit(text: str, width: int, *, right: bool = False) -> str:
    """Exactly so many cells: padded, or cut with a mark that says so."""
    if width <= 0:
        return ""
    length = cell_len(text)
    if length > width:
        return set_cell_size(text, width - 1) + "…"
    return " " * (width - length) + text if right else text + " " * (width - length)


def line_width(line: Iterable[Piece]) -> int:
    return sum(cell_len(text) for text, _ in line)


def clip(line: Line, width: int) -> Line:
    """A line of at most so many cells; one of which words are cut off says so."""
    kept = list(line)
    while kept and not kept[-1][0].strip():
        kept.pop()
    if not kept:
        return line
    kept[-1] = (kept[-1][0].rstrip(), kept[-1][1])
    over = line_width(kept) - width
    if over <= 0:
        return line
    while kept and (length := cell_len(kept[-1][0])) <= over:
        over -= length
        kept.pop()
    if kept:
        text, style = kept.pop()
        kept.append((set_cell_size(text, cell_len(text) - over - 1) + "…", style))
    return tuple(kept)


def spread(left: Line, right: Line, width: int) -> Line:
    """One part at the left edge, one at the right; the left one gives way."""
    room = width - line_width(right) - 1
    if room < 8:
        return left
    kept, used = [], 0
    for text, style in left:
        length = cell_len(text)
        if used + length > room:
            kept.append((fit(text, room - used), style))
            used = room
            break
        kept.append((text, style))
        used += length
    return (*kept, (" " * (width - line_width(right) - used), ""), *right)
