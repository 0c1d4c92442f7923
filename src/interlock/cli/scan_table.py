"""The text output of scan: the traces that went wrong, and a progress bar while it reads."""

from __future__ import annotations

from types import TracebackType

from rich.padding import Padding
from rich.progress import BarColumn, TaskID, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from ..adapters.traces import Scanned
from ..core import short_name
from ..report import fact_line, plural
from .console import Console

COLOURS = {"low": "cyan", "medium": "yellow", "high": "red", "critical": "bold red"}

console = Console(highlight=False)


class Progress:
    """A progress bar on stderr, only on a terminal."""

    def __init__(self, files: list[str]) -> None:
        self._files = files
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[steps]:,} steps"),
            console=Console(stderr=True),
            transient=True,
            disable=not Console(stderr=True).is_terminal,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Progress:
        self._bar.start()
        self._task = self._bar.add_task("reading", total=len(self._files), steps=0)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()

    def advance(self, name: str, steps: int) -> None:
        """Report that another trace of this file is done."""
        if self._task is not None:
            done = self._files.index(name)
            self._bar.update(self._task, description=name.rpartition("/")[2], completed=done, steps=steps)


def print_scanned(result: Scanned, progress: Progress) -> None:
    """Print a trace's issues and the interventions that would have followed; nothing if it has none."""
    if not (result.went_wrong or result.issues or result.notes or result.ending):
        return
    console.print(Text.assemble((result.trace_id, "bold"), f"  {result.steps} steps"))
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(justify="right", style="dim", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    rows = [
        (
            issue.step,
            Text(f"{issue.type.replace('_', ' ')} ({issue.severity})", style=COLOURS[issue.severity]),
            issue.description,
        )
        for issue in result.issues
    ]
    rows += [
        (note.step, Text(f"note: {note.type.replace('_', ' ')}", style="dim"), note.description)
        for note in result.notes
    ]
    rows += [
        (
            answer.step,
            Text(f"→ {short_name(answer.type)}", style="green"),
            f"would respond to the {answer.issue.replace('_', ' ')}",
        )
        for answer in result.interventions
    ]
    for step, what, words in sorted(rows, key=lambda row: row[0]):
        table.add_row(f"step {step}", what, words)
    for each in result.claims:
        if each.verdict != "proven":
            said = Text(f"claim {each.verdict}", style="red" if each.verdict == "contradicted" else "yellow")
            table.add_row(f"step {each.claim.step}", said, f"{each.claim.text} {each.why}")
    for fact in result.tests:
        table.add_row("", Text("tests", style="yellow"), fact_line(fact))
    if result.ending:
        table.add_row("", Text("ending", style="dim"), result.ending)
    console.print(Padding(table, (0, 0, 1, 2)))


def print_total(traces: int, steps: int, found: int, unsaid: int) -> None:
    """Print the last line."""
    verdict = Text(f"{found} of them went wrong", style="yellow") if found else Text("nothing found", style="green")
    console.print(
        Text.assemble(
            f"{plural(traces, 'trace')}, {plural(steps, 'step')}: ",
            verdict,
            f"; {unsaid:,} ended without a final message" if unsaid else "",
        )
    )
