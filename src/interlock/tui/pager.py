"""Pager: a long text on a page of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Label

from .line import Line, clean
from .listing import Listing

Lines = Sequence[Line]


class Pager(ModalScreen[None]):
    """Lines to scroll through; they may come later, and say so until then."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "leave", "Back"),
    ]

    def __init__(self, title: str, lines: Lines | None = None, *, waiting: str = "Reading …") -> None:
        super().__init__()
        self._title, self._waiting = title, waiting
        self._lines = lines
        self._numbered: list[tuple[int, Line]] = []

    def compose(self) -> ComposeResult:
        draw: Callable[[tuple[int, Line], int], Line] = lambda item, _width: item[1]  # noqa: E731
        with Vertical(id="pager"):
            yield Label(Content(clean(self._title)), id="pager-title")
            yield Listing(draw, lambda item: item[0], empty=self._waiting, id="pager-text")
            yield Label("↑ ↓ PgUp PgDn to read, Esc to go back", id="pager-foot")

    def on_mount(self) -> None:
        self.query_one(Listing).focus()
        if self._lines is not None:
            self.fill(self._lines)

    def fill(self, lines: Lines, *, none: str = "There is nothing to show.") -> None:
        """The text is here."""
        listing = self.query_one(Listing)
        listing.say(none)
        listing.show(list(enumerate(lines)))

    def fail(self, why: str) -> None:
        """The text cannot be had."""
        listing = self.query_one(Listing)
        listing.say(clean(why))
        listing.show([])

    def action_leave(self) -> None:
        self.dismiss(None)


def text_lines(text: str, width: int, style: str = "") -> list[Line]:
    """A text as rows, wrapped at a width."""
    import textwrap

    made: list[Line] = []
    for row in clean(text).expandtabs(4).split("\n"):
        wrapped = textwrap.wrap(row, max(20, width), drop_whitespace=False, replace_whitespace=False) or [""]
        made += [((piece, style),) for piece in wrapped]
    return made


def patch_lines(patch: str) -> list[Line]:
    """A unified diff in colour; the first column tells added from removed without it."""
    return [((clean(row).expandtabs(4), _patch_style(row)),) for row in patch.splitlines()]


def _patch_style(row: str) -> str:
    if row.startswith(("+++", "---", "diff ")):
        return "strong"
    return {"+": "good", "-": "bad", "@": "link"}.get(row[:1], "")
