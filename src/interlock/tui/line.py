"""Line: one row of the screen as pieces of text, each with the name of its style; and the colours of the styles."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.theme import Theme

Piece = tuple[str, str]
"""Text, and a style's name in the palette; an empty name is plain text."""

Line = tuple[Piece, ...]

_SPACES = re.compile(r"\s+")
_SAFE = re.compile(r"[\x20-\x7e]*\Z")
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
"""Characters with which an agent could move the cursor, hide text or reverse it."""


def clean(text: str) -> str:
    """Text of an agent without characters that control the terminal."""
    if _SAFE.match(text):
        return text
    return "".join("·" if unicodedata.category(each) in _HIDDEN and each not in "\n\t" else each for each in text)


def flat(text: str, limit: int = 400) -> str:
    """The beginning of a text in one row."""
    return clean(_SPACES.sub(" ", text[: 2 * limit]).strip()[:limit])


def fit(text: str, width: int, *, right: bool = False) -> str:
    """Exactly this many cells: padded, or cut with an ellipsis."""
    if width <= 0:
        return ""
    length = cell_len(text)
    if length > width:
        return set_cell_size(text, width - 1) + "…"
    return " " * (width - length) + text if right else text + " " * (width - length)


def line_width(line: Iterable[Piece]) -> int:
    return sum(cell_len(text) for text, _ in line)


def clip(line: Line, width: int) -> Line:
    """A line of at most this many cells, cut with an ellipsis."""
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
    """One part at the left edge, one at the right; the left one is shortened."""
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


def _theme(
    name: str, *, dark: bool, primary: str, secondary: str, accent: str, error: str, success: str, **grounds: Any
) -> Theme:
    variables = {"footer-key-foreground": primary, "block-cursor-text-style": "none"}
    return Theme(
        name=name, dark=dark, primary=primary, secondary=secondary, accent=accent, warning=accent, error=error,
        success=success, variables=variables, **grounds,
    )  # fmt: skip


DARK = _theme(
    "interlock-dark", dark=True, primary="#5fafff", secondary="#8a9bb8", accent="#ffb454", error="#ff6b6b",
    success="#7bd88f", foreground="#d8dee9", background="#11151c", surface="#161b24", panel="#1f2632",
)  # fmt: skip
LIGHT = _theme(
    "interlock-light", dark=False, primary="#0b62c4", secondary="#4c5b73", accent="#9a5b00", error="#b3261e",
    success="#1b7f3b", foreground="#1c2430", background="#fbfbf9", surface="#f3f3ef", panel="#e6e7e3",
)  # fmt: skip

_DARK = {
    "good": "#7bd88f", "warn": "#ffb454", "bad": "#ff6b6b", "dim": "#7d8799", "strong": "#ffffff", "link": "#5fafff",
    "level0": "#7bd88f", "level1": "#5fd7d7", "level2": "#ffd75f", "level3": "#ff9e64", "level4": "#ff6b6b",
    "faint": "#3a4456", "plain": "#d8dee9",
}  # fmt: skip
_LIGHT = {
    "good": "#1b7f3b", "warn": "#8a5200", "bad": "#b3261e", "dim": "#5d6673", "strong": "#000000", "link": "#0b62c4",
    "level0": "#1b7f3b", "level1": "#00707a", "level2": "#7a5d00", "level3": "#a84300", "level4": "#b3261e",
    "faint": "#c3c6c0", "plain": "#1c2430",
}  # fmt: skip

_BOLD = frozenset(("strong", "bad", "level4"))

STATUS = {
    "running": ("●", "good"), "pausing": ("◐", "warn"), "paused": ("‖", "warn"), "done": ("✓", "dim"),
    "limit": ("≡", "warn"), "aborted": ("✗", "bad"), "lost": ("?", "bad"), "unknown": ("?", "bad"),
    "unreadable": ("!", "bad"), "proven": ("✓", "good"), "contradicted": ("✗", "bad"), "broken": ("✗", "bad"),
}  # fmt: skip
"""A status's sign and style: the sign distinguishes it without colour."""

SEVERITY = {"low": "level1", "medium": "level2", "high": "level3", "critical": "level4"}


@cache
def style_of(name: str, *, dark: bool) -> Style:
    """The style behind a name; `name!` is bold, unknown names are plain."""
    bold = name.endswith("!")
    word = name.removesuffix("!")
    colour = (_DARK if dark else _LIGHT).get(word or "plain")
    return Style(color=colour, bold=bold or word in _BOLD or None)


def draw_line(line: Line, width: int, base: Style, *, dark: bool) -> Strip:
    """A line as Textual draws it: on the background of `base`, in the colour and weight of its pieces."""
    line = clip(line, width)
    segments = [Segment(text, base + style_of(style, dark=dark) if style else base) for text, style in line]
    return Strip(segments, line_width(line)).adjust_cell_length(width, base)


def status_sign(status: str, outcome: str = "") -> tuple[str, str]:
    """The sign and style of a status; done with an outcome that has none of its own looks like a limit."""
    if status == "done" and outcome:
        return STATUS.get(outcome, STATUS["limit"])
    return STATUS.get(status, ("·", ""))


def severity_style(severity: str | None) -> str:
    return SEVERITY.get(severity or "medium", "level2")
