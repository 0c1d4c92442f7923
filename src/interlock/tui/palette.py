"""Palette: the colours, light and dark, under names that say what they mean."""

from __future__ import annotations

from functools import cache

from rich.style import Style
from textual.theme import Theme

DARK = Theme(
    name="interlock-dark",
    primary="#5fafff",
    secondary="#8a9bb8",
    accent="#ffb454",
    warning="#ffb454",
    error="#ff6b6b",
    success="#7bd88f",
    foreground="#d8dee9",
    background="#11151c",
    surface="#161b24",
    panel="#1f2632",
    dark=True,
    variables={"footer-key-foreground": "#5fafff", "block-cursor-text-style": "none"},
)

LIGHT = Theme(
    name="interlock-light",
    primary="#0b62c4",
    secondary="#4c5b73",
    accent="#9a5b00",
    warning="#9a5b00",
    error="#b3261e",
    success="#1b7f3b",
    foreground="#1c2430",
    background="#fbfbf9",
    surface="#f3f3ef",
    panel="#e6e7e3",
    dark=False,
    variables={"footer-key-foreground": "#0b62c4", "block-cursor-text-style": "none"},
)

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
    "running": ("●", "good"),
    "pausing": ("◐", "warn"),
    "paused": ("‖", "warn"),
    "done": ("✓", "dim"),
    "limit": ("≡", "warn"),
    "aborted": ("✗", "bad"),
    "lost": ("?", "bad"),
    "unknown": ("?", "bad"),
    "unreadable": ("!", "bad"),
}
"""A status's sign and style: the sign tells it where there is no colour."""

SEVERITY = {"low": "level1", "medium": "level2", "high": "level3", "critical": "level4"}


@cache
def style_of(name: str, *, dark: bool) -> Style:
    """The style behind a name; `name!` is bold, unknown names are plain."""
    bold = name.endswith("!")
    word = name.removesuffix("!")
    colour = (_DARK if dark else _LIGHT).get(word or "plain")
    return Style(color=colour, bold=bold or word in _BOLD or None)


def status_sign(status: str, outcome: str = "") -> tuple[str, str]:
    """The sign and style of a status; one that is done, but not well, looks like a limit."""
    return STATUS.get("limit" if status == "done" and outcome not in ("", "done") else status, ("·", ""))


def severity_style(severity: str | None) -> str:
    return SEVERITY.get(severity or "medium", "level2")
