"""Pager: a long text on its own page."""

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

from .line import Line, clean
from .listing import Listing

Write = Callable[[int], list[Line]]
"""The text at a width."""


class Text(Listing[Line]):
    """Rows without a cursor: the keys scroll."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(lambda line, _width: line, lambda line: line, marked=False, id=id)

    def _step(self, by: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + by, animate=False, force=True, immediate=True)

    def _go(self, place: int) -> None:
        self.scroll_to(y=place, animate=False, force=True, immediate=True)


class Pager(ModalScreen[None]):
    """A text to read; it may come later, and says so until then."""

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
        # The size of the text is known only after this has been laid out.
        self.call_after_refresh(self._rewrite)

    def fill(self, write: Write, *, none: str = "Nothing to show.") -> None:
        """The text is here."""
        self._write = write
        self.query_one(Text).say(none)
        self._rewrite()

    def fail(self, why: str) -> None:
        """The text is not available."""
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
    """A unified diff in colour; the first column tells added from removed without it."""
    return [((clean(row).expandtabs(4), _patch_style(row)),) for row in patch.splitlines()]


def _patch_style(row: str) -> str:
    if row.startswith(("+++", "---", "diff ")):
        return "strong"
    return {"+": "good", "-": "bad", "@": "link"}.get(row[:1], "")
