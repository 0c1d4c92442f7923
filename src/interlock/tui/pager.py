"""Pager: a long text on its own page; the help, with every key in words, is one."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Label

from .line import Line, clean, fit
from .row_list import RowList

Write = Callable[[int], list[Line]]
"""The text at a width."""


class Text(RowList[Line]):
    """Rows without a cursor: the keys scroll."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(lambda line, _width: line, lambda line: line, marked=False, id=id)

    def _step(self, by: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + by, animate=False, force=True, immediate=True)

    def _go(self, row: int) -> None:
        self.scroll_to(y=row, animate=False, force=True, immediate=True)


class Pager(ModalScreen[None]):
    """A screen with a text to read; shows a placeholder until the text arrives."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter", "leave", "Back")]

    def __init__(self, title: str, write: Write | None = None, *, waiting: str = "Reading …") -> None:
        super().__init__()
        self._title, self._waiting, self._write = title, waiting, write

    def compose(self) -> ComposeResult:
        with Vertical(id="pager"):
            yield Label(Content(clean(self._title)), id="pager-title")
            yield Text(id="pager-text")
            yield Label("↑ ↓ PgUp PgDn Home End to read, Esc to go back", id="pager-foot")

    def on_mount(self) -> None:
        text = self.query_one(Text)
        text.say(self._waiting)
        text.focus()

    def on_resize(self) -> None:
        # The text's size is known only after layout.
        self.call_after_refresh(self._rewrite)

    def fill(self, write: Write, *, none: str = "Nothing to show.") -> None:
        """Show the text."""
        self._write = write
        self.query_one(Text).say(none)
        self._rewrite()

    def fail(self, why: str) -> None:
        """Show why there is no text."""
        self.fill(lambda _width: [], none=clean(why))

    def action_leave(self) -> None:
        self.dismiss(None)

    def _rewrite(self) -> None:
        text = self.query_one(Text)
        if self._write is not None:
            text.show(self._write(max(20, text.size.width - 3)))


def text_lines(text: str, width: int, style: str = "", indent: str = "") -> list[Line]:
    """A text as rows, wrapped at a width."""
    made: list[Line] = []
    for row in clean(text).expandtabs(4).split("\n"):
        inner = max(20, width - len(indent))
        wrapped = textwrap.wrap(row, inner, drop_whitespace=False, replace_whitespace=False) or [""]
        made += [((indent + piece.rstrip(), style),) for piece in wrapped]
    return made


def patch_lines(patch: str) -> list[Line]:
    """A unified diff in colour; the first column shows the same without it."""
    return [((clean(row).expandtabs(4), _patch_style(row)),) for row in patch.splitlines()]


def _patch_style(row: str) -> str:
    if row.startswith(("+++", "---", "diff ")):
        return "strong"
    return {"+": "good", "-": "bad", "@": "link"}.get(row[:1], "")


KEYS: dict[str, tuple[tuple[str, str], ...]] = {
    "Steer a run": (
        ("p", "pause: the current step may finish, no further one starts; again: resume"),
        ("r", "resume"),
        ("c", "cancel: end the agent and all its processes (asks first)"),
        ("e", "escalate: continue with a stronger model (asks which and why)"),
        ("a  x", "approve or reject the pending step"),
    ),
    "Navigate": (
        ("↑ ↓ j k", "move; PgUp PgDn, Home End, g G in larger steps"),
        ("Enter", "open the run, record, issue or difference"),
        ("1 2 3 4, Tab", "timeline, problems, checkpoints, control"),
        ("/", "search: all words must match; Esc clears"),
        ("f", "filter: all, live, ended; everything, problems, steps, …"),
        ("Esc", "back"),
    ),
    "Checkpoints": (
        ("d  D", "what changed since this one; since the previous one"),
        ("b", "roll back to this one (shows what would change, asks first)"),
    ),
    "Other": (
        ("i", "the report of an emergency stop, and its options"),
        ("t", "light or dark"),
        ("?", "this page"),
        ("q", "quit; runs continue"),
    ),
}

WORDS = """States are real: a run shows as paused once its RESULT has arrived, not when you press the key. Until
then it shows what was requested. ACK means that the run has stored the command, RESULT is its outcome. "unknown" is
neither done nor failed: try again when the run's owner, or the network, is back."""


def help_lines(width: int) -> list[Line]:
    """The help page, which lists the keys, at a width."""
    width = min(width, 100)
    lines: list[Line] = []
    for title, keys in KEYS.items():
        lines += [((title, "link!"),)]
        for key, words in keys:
            first, *more = text_lines(words, width - 16)
            lines += [(("  ", ""), (fit(key, 14), "strong"), *first)]
            lines += [((" " * 16, ""), *row) for row in more]
        lines += [()]
    lines += text_lines(" ".join(WORDS.split()), width, "dim")
    return lines
