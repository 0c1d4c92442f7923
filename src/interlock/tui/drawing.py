"""Drawing: a few rows that are drawn again whenever what they show has changed."""

from __future__ import annotations

from collections.abc import Callable

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from .line import Line, clip, line_width
from .palette import style_of

Draw = Callable[[int], list[Line]]
"""The rows at a width."""


class Drawing(Widget):
    """Rows made by a function."""

    DEFAULT_CSS = "Drawing { height: auto; width: 1fr; }"

    def __init__(self, draw: Draw, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._draw = draw
        self._rows: list[Line] = []

    def redraw(self) -> None:
        """Show what there is to show now; does nothing where that is the same."""
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
        line = clip(self._rows[y], width)
        dark = self.app.current_theme.dark
        segments = [Segment(text, base + style_of(style, dark=dark) if style else base) for text, style in line]
        return Strip(segments, line_width(line)).adjust_cell_length(width, base)
