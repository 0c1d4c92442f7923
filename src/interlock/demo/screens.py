"""The demo as plain lines, for pipes and small terminals, or on a split screen."""

from __future__ import annotations

from collections import deque

from rich.console import Console, ConsoleOptions, RenderResult
from rich.layout import Layout
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from .narrator import BAD, GOOD, QUIET, RUNGS, Entry, Narrator, Side
from .player import DemoEvent

INDENT = 34
"""Where Interlock's side begins; the agent's is at the margin."""
NARROW = 100
NARROW_INDENT = 8


class Lines:
    """Prints the demo, agent at the margin, Interlock indented."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.narrator = Narrator()
        self._keys: list[str] = []
        self._more = 0

    def show(self, event: DemoEvent) -> float:
        """Print an event; returns how many seconds people need to read it."""
        held = 0.0
        for entry in self.narrator.entries_for(event):
            self._print(entry)
            held += entry.hold_s
        if event.kind == "scene":
            body = event.body
            self.console.print()
            self.console.print(Rule(f"[bold]{body['number']}  {body['title']}[/]", align="left", style="blue"))
            self.console.print(Padding(Text(str(body["watch_for"]), style="italic"), (0, 0, 0, 3)))
            held = 1.5
        return held

    def _print(self, entry: Entry) -> None:
        if entry.key and entry.key in self._keys:
            self._more += entry.key.startswith("call ")
            return
        if self._more:
            self.console.print(Padding(Text(f"... and {self._more} more like it", style=QUIET), (0, 0, 0, 2)))
            self._more = 0
        if entry.side == "agent":
            self._keys = [*self._keys, entry.key][-2:]
        row = Table.grid(padding=(0, 1) if entry.mark else 0)
        row.add_column(no_wrap=True)
        row.add_column()
        words = Text.assemble((entry.title, entry.style), " " if entry.title and entry.text else "", entry.text)
        row.add_row(Text(entry.mark, entry.style), words)
        indent = 2 if entry.side == "agent" else NARROW_INDENT if self.console.width < NARROW else INDENT
        self.console.print(Padding(row, (0, 0, 0, indent)))


def print_totals(console: Console, narrator: Narrator, *, kept: bool) -> None:
    """Print what was saved, and what to try next."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style=GOOD, justify="right", no_wrap=True)
    table.add_column()
    for amount, what in narrator.totals():
        table.add_row(Text(amount, style=f"bold {GOOD}"), what)
    console.print()
    console.print(Rule("[bold]What was saved[/]", align="left", style=GOOD))
    console.print(Padding(table, (1, 0, 1, 2)))
    if kept:
        following = "Explore this run: interlock web, interlock top, or interlock report demo."
    else:
        following = "Nothing is left behind. To explore a run like this: interlock demo --keep, then interlock web."
    console.print(Padding(Text(following), (0, 0, 0, 2)))
    console.print(Padding(Text("Supervise your own agent: interlock run -- COMMAND"), (0, 0, 0, 2)))


LEAST_COLUMNS, LEAST_ROWS = 72, 20
"""Smaller terminals get plain lines."""

WIDE = 100
KEPT = 60
"""Entries kept per side; more never fit."""


class SplitScreen:
    """Renders the current state of the demo."""

    def __init__(self) -> None:
        self.narrator = Narrator()
        self._sides: dict[Side, deque[tuple[Entry, int]]] = {}
        self._files = 0
        self._title, self._caption, self._number, self._of = "", "", 0, 0

    def begin(self, event: DemoEvent) -> list[Entry]:
        """The entries of an event, to `add` one by one."""
        if event.kind == "scene":
            body = event.body
            self._title, self._caption = str(body["title"]), str(body["watch_for"])
            self._number, self._of = int(str(body["number"])), int(str(body["of"]))
        return self.narrator.entries_for(event)

    def add(self, entry: Entry) -> None:
        """Append an entry to its side; a repeated one replaces the earlier one and is counted."""
        side = self._sides.setdefault(entry.side, deque(maxlen=KEPT))
        for back in (1, 2):
            if entry.key and len(side) >= back and side[-back][0].key == entry.key:
                side[-back] = (entry, side[-back][1] + 1)
                return
        side.append((entry, 1))

    def count_files(self) -> bool:
        """Move the displayed number of files one step; False when it is right."""
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
