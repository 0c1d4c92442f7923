"""Split screen: the agent on the left, Interlock on the right, redrawn in place."""

from __future__ import annotations

from collections import deque

from rich.console import Console, ConsoleOptions, RenderResult
from rich.layout import Layout
from rich.panel import Panel
from rich.text import Text

from .narrator import BAD, RUNGS, Entry, Narrator, Side
from .player import DemoEvent

LEAST_COLUMNS, LEAST_ROWS = 72, 20
"""Smaller terminals get plain lines."""

WIDE = 100
KEPT = 60
"""Entries of each side that are remembered; more never fit."""


class SplitScreen:
    """Renders the current state of the performance."""

    def __init__(self) -> None:
        self.narrator = Narrator()
        self._sides: dict[Side, deque[tuple[Entry, int]]] = {}
        self._files = 0
        self._title, self._caption, self._number, self._of = "", "", 0, 0

    def begin(self, event: DemoEvent) -> list[Entry]:
        """The entries of an event, to `add` one after the other."""
        if event.kind == "scene":
            body = event.body
            self._title, self._caption = str(body["title"]), str(body["watch_for"])
            self._number, self._of = int(str(body["number"])), int(str(body["of"]))
        return self.narrator.tell(event)

    def add(self, entry: Entry) -> None:
        """Put an entry below the others of its side; one that is the same again takes its place, and counts."""
        side = self._sides.setdefault(entry.side, deque(maxlen=KEPT))
        for back in (1, 2):
            if entry.key and len(side) >= back and side[-back][0].key == entry.key:
                side[-back] = (entry, side[-back][1] + 1)
                return
        side.append((entry, 1))

    def count_files(self) -> bool:
        """Go one file nearer to how many there are; False when there."""
        self._files += (self.narrator.tally.files > self._files) - (self.narrator.tally.files < self._files)
        return self._files != self.narrator.tally.files

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns, height = options.max_width, options.height or console.height
        caption = Text(f"{self._caption}", style="italic").wrap(console, columns - 2)
        layout = Layout()
        layout.split_column(
            Layout(self._head(columns, [*caption, Text()][:2]), size=3), Layout(name="body"),
            Layout(self._foot(columns), size=1),
        )  # fmt: skip
        inner, rows = columns // 2 - 4, height - 6
        panels = []
        for side, title, style in (("agent", "agent", "white"), ("interlock", "Interlock", "blue")):
            content = self._side(side, console, inner, rows)  # type: ignore[arg-type]
            panels.append(Layout(Panel(content, title=title, title_align="left", border_style=style)))
        layout["body"].split_row(*panels)
        yield layout

    def _head(self, columns: int, caption: list[Text]) -> Text:
        dots = "●" * self._number + "○" * (self._of - self._number)
        head = Text.assemble((f" {self._title}", "bold"), no_wrap=True)
        head.append(" " * max(1, columns - head.cell_len - len(dots) - 1))
        head.append(dots, "blue")
        return Text("\n").join([head, *(Text.assemble(" ", line) for line in caption)])

    def _side(self, side: Side, console: Console, columns: int, rows: int) -> Text:
        """As much of a side as fits, the newest at the bottom."""
        lines: list[Text] = []
        for entry, count in self._sides.get(side, ()):
            lines += _entry_lines(entry, count, console, columns)
        return Text("\n").join(lines[-rows:])

    def _foot(self, columns: int) -> Text:
        """The ladder, and how many files there are."""
        tally = self.narrator.tally
        foot = Text(" ", no_wrap=True)
        for rung, (name, style) in enumerate(RUNGS):
            lit = tally.rung is not None and rung <= tally.rung
            foot.append(f"{'■' if lit else '□'} {name}{'    ' if columns >= WIDE else '  '}", style if lit else "dim")
        files = "■" * self._files + "□" * (tally.all_files - self._files)
        foot.append(" " * max(1, columns - foot.cell_len - len(files) - 10))
        foot.append(f"{self._files:>2} files {files} ", "green" if self._files >= tally.all_files else BAD)
        return foot


def _entry_lines(entry: Entry, count: int, console: Console, columns: int) -> list[Text]:
    """An entry, wrapped behind its mark."""
    words = Text(entry.text, "" if entry.title else entry.style)
    if entry.title:
        words = Text.assemble((entry.title, entry.style), "  " if entry.text else "", entry.text)
    if count > 1 and entry.mark != "$":
        words.append(f"  ×{count}", "bold")
    mark = f"{entry.mark} " if entry.mark else ""
    wrapped = words.wrap(console, max(10, columns - len(mark)))
    lines = []
    for number, line in enumerate(wrapped):
        line.rstrip()
        lines.append(Text.assemble((mark, entry.style) if number == 0 else " " * len(mark), line))
    return [*lines, Text()] if entry.side == "interlock" or entry.mark in ("✓", "✗", "✖") else lines
