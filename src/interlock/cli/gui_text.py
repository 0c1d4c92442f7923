"""The text output of GUI sessions: events and the verification table."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from rich.text import Text

from .console import Console, new_table

if TYPE_CHECKING:
    from ..journal_records import InterventionEvent, VerificationResult

STATUS = {"normal": "green", "dialog": "yellow", "wrong_file": "yellow", "terminal": "yellow", "error": "red"}
OUTCOME = {"none": "dim", "recovered": "green", "failed": "red"}
MATCH = {"match": "green", "partial": "yellow", "mismatch": "red", "missing": "red"}

DIFF_LINES = 20
"""Lines of a diff that are shown; `--json` has all."""


def print_event(console: Console, event: InterventionEvent) -> None:
    """Print one event of a GUI session on one line."""
    at = datetime.fromtimestamp(event.timestamp).strftime("%H:%M:%S")
    status, outcome = event.status.value, event.outcome
    line = Text.assemble((f"{at}  ", "dim"), (f"{status:<10}", STATUS.get(status, "")), f" {event.confidence:.2f}  ")
    if outcome != "none":
        line.append(f"{outcome}  ", style=OUTCOME.get(outcome, "yellow"))
    line.append(event.description)
    for part in ("; ".join(event.actions_taken), event.reason):
        if part:
            line.append(f"  [{part}]", style="dim")
    console.print(line)


def print_verification(console: Console, result: VerificationResult) -> None:
    """Print one line per file, then the differences, then the summary."""
    numbers = ("SIMILARITY", "LINES", "EXPECTED", "LOST", "ADDED", "CHANGED")
    table = new_table("FILE", "MATCH", *numbers, "", right=numbers, wrap=("",))
    for each in result.comparisons:
        exact = "exact" if each.exact else each.reason or "not exact"
        table.add_row(
            Text(each.path),
            Text(each.match_status, style=MATCH[each.match_status]),
            f"{each.similarity:.4f}",
            f"{each.actual_lines:,}",
            f"{each.expected_lines:,}",
            f"{each.lines_lost:,}",
            f"{each.lines_added:,}",
            f"{each.lines_changed:,}",
            Text(exact if each.exists else "", style="dim"),
        )
    if result.comparisons:
        console.print(table)
    for each in result.comparisons:
        for line in each.diff_lines[:DIFF_LINES]:
            style = "green" if line.startswith("+") else "red" if line.startswith("-") else "dim"
            console.print(Text(line.rstrip("\n"), style=style))
        if len(each.diff_lines) > DIFF_LINES:
            console.print(Text(f"... {len(each.diff_lines) - DIFF_LINES} more lines", style="dim"))
    console.print(Text(result.summary, style="green" if result.success else "red"))
