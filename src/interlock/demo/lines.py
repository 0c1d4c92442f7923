"""Lines: the demonstration as plain text, for pipes and small terminals; and the sum at its end, for all."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from .narrator import GOOD, QUIET, Entry, Narrator
from .player import DemoEvent

INDENT = 34
"""Where Interlock's side begins; the agent's is at the margin."""
NARROW = 100
NARROW_INDENT = 8


class Lines:
    """Prints one performance, agent at the margin, Interlock indented."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.narrator = Narrator()
        self._keys: list[str] = []
        self._more = 0

    def show(self, event: DemoEvent) -> float:
        """Print an event; how many seconds people need for it."""
        held = 0.0
        for entry in self.narrator.tell(event):
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
    """What was saved, and what to try next."""
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
