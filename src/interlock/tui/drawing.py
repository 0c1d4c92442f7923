"""Drawing: rows that are redrawn when their content changes; tabs; and a search field."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from .line import Line, Piece, draw_line

Draw = Callable[[int], list[Line]]
"""The rows at a width."""


class Drawing(Widget):
    """Rows made by a function."""

    DEFAULT_CSS = "Drawing { height: auto; width: 1fr; }"

    def __init__(self, draw: Draw, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._draw = draw
        self._rows: list[Line] = []

    def redraw(self) -> None:
        """Redraw if the rows have changed."""
        rows = self._draw(self.content_size.width)
        if rows == self._rows:
            return
        taller = len(rows) != len(self._rows)
        self._rows = rows
        self.refresh(layout=taller)

    def on_resize(self) -> None:
        self._rows = self._draw(self.content_size.width)
        self.refresh(layout=True)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self._draw(width))

    def render_line(self, y: int) -> Strip:
        width, base = self.content_size.width, self.rich_style
        if not 0 <= y < len(self._rows):
            return Strip.blank(width, base)
        return draw_line(self._rows[y], width, base, dark=self.app.current_theme.dark)


class Tabs(Drawing):
    """One row of tabs; a click or a number key picks a list."""

    @dataclass
    class Picked(Message):
        """A list was picked."""

        number: int

    def __init__(self, names: Sequence[str], counts: Callable[[], Sequence[str]], *, id: str | None = None) -> None:
        super().__init__(self._row, id=id)
        self._names, self._counts = tuple(names), counts
        self.chosen = 0

    def choose(self, number: int) -> None:
        self.chosen = number
        self.redraw()

    def on_click(self, event: events.Click) -> None:
        at = event.x - self.styles.gutter.left
        for number, (text, _) in enumerate(piece for piece in self._row(self.size.width)[0] if piece[0].strip(" │")):
            if at < len(text) + 1:
                self.post_message(self.Picked(number))
                return
            at -= len(text) + 1

    def _row(self, width: int) -> list[Line]:
        pieces: list[Piece] = []
        for number, (name, count) in enumerate(zip(self._names, self._counts(), strict=True)):
            label = f"{number + 1} {name}" + (f" {count}" if count else "")
            if number == self.chosen:
                pieces += [(f"▸{label}", "link!"), (" ", "")]
            else:
                pieces += [(f" {label}", "dim"), (" ", "")]
        return [tuple(pieces)]


class Search(Input):
    """Shown by `ask`, hidden by `hide`."""

    DEFAULT_CSS = """
    Search { display: none; height: 1; border: none; padding: 0 1; background: $panel; }
    Search.asking { display: block; }
    Search:focus { border: none; background-tint: 0%; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, placeholder="search: all words must match; Enter keeps, Esc clears", compact=True)

    def ask(self, text: str) -> None:
        self.add_class("asking")
        self.value = text
        self.focus()

    def hide(self, *, keep: bool = False) -> None:
        """Hide it; without `keep`, clear it."""
        self.remove_class("asking")
        if not keep:
            self.value = ""
