"""Tabs: the names of the lists in one row, with how much is in each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.message import Message

from .drawing import Drawing
from .line import Line, Piece


class Tabs(Drawing):
    """One row; a click or its number picks a list."""

    class Picked(Message):
        """A list was picked."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

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
