"""RowList: rows with a heading and a cursor; draws only visible rows, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from .line import Line, draw_line, fit

T = TypeVar("T")

Draw = Callable[[T, int], Line]
"""An item as a row of at most this many cells."""


class RowList(ScrollView, Generic[T], can_focus=True):
    """Items of one kind. `follow`: a cursor on the last item stays on the last one."""

    DEFAULT_CSS = """
    RowList { height: 1fr; overflow-x: hidden; scrollbar-size-vertical: 1; background: $background; }
    RowList .row-list--heading { color: $secondary; text-style: bold; background: $background; }
    RowList .row-list--cursor { background: $panel; }
    RowList:focus .row-list--cursor { background: $primary 30%; text-style: bold; }
    RowList .row-list--empty { color: $secondary; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"row-list--heading", "row-list--cursor", "row-list--empty"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False),
        Binding("home,g", "first", "First", show=False),
        Binding("end,G", "last", "Last", show=False),
        Binding("enter", "choose", "Open", show=False),
    ]

    cursor: reactive[int] = reactive(0, init=False)

    @dataclass
    class Chosen(Message):
        """Enter, or a second click, on an item."""

        item: object

    class Moved(Chosen):
        """The cursor is on another item."""

    @dataclass
    class Edge(Message):
        """The cursor reached the first or last loaded row; there may be more beyond."""

        direction: int
        far: bool

    def __init__(
        self,
        draw: Draw[T],
        key: Callable[[T], object],
        *,
        heading: Callable[[int], Line] | None = None,
        empty: str = "",
        follow: bool = False,
        marked: bool = True,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._draw, self._key, self._heading = draw, key, heading
        self.empty = empty
        self.follow = follow
        self._marked = marked
        self.items: list[T] = []

    @property
    def item(self) -> T | None:
        """The item under the cursor."""
        return self.items[self.cursor] if 0 <= self.cursor < len(self.items) else None

    @property
    def at_end(self) -> bool:
        return self.cursor >= len(self.items) - 1

    def say(self, empty: str) -> None:
        """Set what is shown while there are no items."""
        if empty != self.empty:
            self.empty = empty
            self.refresh()

    def show(self, items: Sequence[T], *, to_end: bool = False) -> None:
        """Replace the items; the cursor stays on its item, or on the last if it follows."""
        following = to_end or (self.follow and self.at_end)
        before = self.item
        self.items = list(items)
        if following or before is None:
            index = len(self.items) - 1 if following else 0
        else:
            index = self._index_of(self._key(before))
        self._resized()
        self._go(max(0, index))
        self.refresh()

    def add_before(self, items: Sequence[T]) -> None:
        """Put items at the beginning without moving the view."""
        self.items[:0] = items
        self._resized()
        self.set_reactive(RowList.cursor, self.cursor + len(items))
        self.scroll_to(y=self.scroll_offset.y + len(items), animate=False, force=True, immediate=True)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        base = self.rich_style
        if self._heading is not None and y == 0:
            named = ((" ", ""), *self._heading(width - 1))
            return self._strip(named, width, self.get_component_rich_style("row-list--heading"))
        if not self.items:
            return self._empty_line(y, width)
        index = self.scroll_offset.y + y - self._head
        if not 0 <= index < len(self.items):
            return Strip.blank(width, base)
        if not self._marked:
            return self._strip(self._draw(self.items[index], width), width, base)
        if index == self.cursor:
            line = (("▌", "link"), *self._draw(self.items[index], width - 1))
            return self._strip(line, width, self.get_component_rich_style("row-list--cursor"))
        return self._strip(((" ", ""), *self._draw(self.items[index], width - 1)), width, base)

    def watch_cursor(self, before: int, now: int) -> None:
        self._see(now)
        self.refresh()
        if self.item is not None:
            self.post_message(self.Moved(self.item))

    def action_move(self, by: int) -> None:
        self._step(by)

    def action_page(self, direction: int) -> None:
        self._step(direction * max(1, self._room - 1))

    def action_first(self) -> None:
        self._go(0)
        self.post_message(self.Edge(-1, far=True))

    def action_last(self) -> None:
        self._go(len(self.items) - 1)
        self.post_message(self.Edge(1, far=True))

    def action_choose(self) -> None:
        if self.item is not None:
            self.post_message(self.Chosen(self.item))

    def on_click(self, event: events.Click) -> None:
        index = self.scroll_offset.y + event.y - self._head
        if event.y < self._head or not 0 <= index < len(self.items):
            return
        if index == self.cursor and event.chain > 1:
            self.action_choose()
        self._go(index)

    def on_resize(self) -> None:
        self._resized()
        self._see(self.cursor)

    @property
    def _head(self) -> int:
        return 1 if self._heading is not None else 0

    @property
    def _room(self) -> int:
        return max(1, self.scrollable_content_region.height - self._head)

    def _step(self, by: int) -> None:
        wanted = self.cursor + by
        self._go(wanted)
        if not 0 < wanted < len(self.items) - 1:
            self.post_message(self.Edge(-1 if by < 0 else 1, far=False))

    def _go(self, index: int) -> None:
        self.cursor = max(0, min(index, len(self.items) - 1))

    def _index_of(self, key: object) -> int:
        if 0 <= self.cursor < len(self.items) and self._key(self.items[self.cursor]) == key:
            return self.cursor
        return next((i for i, item in enumerate(self.items) if self._key(item) == key), self.cursor)

    def _resized(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, len(self.items) + self._head)

    def _see(self, index: int) -> None:
        """Scroll just enough to show the row."""
        top = self.scroll_offset.y
        if index < top:
            self.scroll_to(y=index, animate=False, force=True, immediate=True)
        elif index >= top + self._room:
            self.scroll_to(y=index - self._room + 1, animate=False, force=True, immediate=True)

    def _empty_line(self, y: int, width: int) -> Strip:
        lines = self.empty.split("\n")
        first = self._head + max(0, (self._room - len(lines)) // 3)
        text = lines[y - first] if first <= y < first + len(lines) else ""
        indent = max(1, (width - max((len(each) for each in lines), default=0)) // 2)
        style = self.get_component_rich_style("row-list--empty")
        return Strip([Segment(fit(" " * indent + text, width), style)], width)

    def _strip(self, line: Line, width: int, base: Style) -> Strip:
        return draw_line(line, width, base, dark=self.app.current_theme.dark)
