"""The table of runs that `interlock ps` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len, set_cell_size
from rich.table import Table
from rich.text import Text

from ..journal import RunSummary
from .output import money
from .runs import moment, shown_status, style_of

if TYPE_CHECKING:
    from ..link import RemoteRun

NUMBERS = frozenset(("STEPS", "ISSUES", "INTERVENTIONS", "COST"))
SPARED = ("INTERVENTIONS", "COST", "STARTED", "ISSUES", "TASK", "STEPS", "DOING", "HOST")
"""Columns that go, in this order, where there is no room for all of them."""

GAP = 2
MANY = 200
"""Rows from which a table is set by hand."""

LEAST_TASK = 16
"""Characters of a task that are worth a column."""


def runs_table(runs: list[RunSummary], width: int) -> Table | Text:
    """One line a run, in what width there is."""
    return _fitting(
        [
            {
                "RUN": Text(run.run_id),
                "NAME": Text(run.name),
                "STATUS": _status(shown_status(run)),
                "DOING": _doing(run),
                "STEPS": Text(f"{run.steps:,}"),
                "ISSUES": Text(f"{run.issues:,}"),
                "INTERVENTIONS": Text(f"{run.interventions:,}"),
                "COST": Text(money(run.cost_usd, run.max_cost_usd, run.unpriced_tokens)),
                "STARTED": Text(moment(run.started)),
                "TASK": Text(matter(run)),
            }
            for run in runs
        ],
        width,
    )


def hub_table(runs: list[RemoteRun], width: int) -> Table | Text:
    """One line a run, with its host."""
    return _fitting(
        [
            {
                "RUN": Text(run.summary.run_id),
                "HOST": Text(run.host),
                "NAME": Text(run.summary.name),
                "STATUS": _status(run.outcome),
                "STEPS": Text(f"{run.summary.steps:,}"),
                "COST": Text(money(run.summary.cost_usd, run.summary.max_cost_usd, run.summary.unpriced_tokens)),
                "STARTED": Text(moment(run.summary.started)),
                "TASK": Text(matter(run.summary)),
            }
            for run in runs
        ],
        width,
    )


def _fitting(rows: list[dict[str, Text]], width: int) -> Table | Text:
    """The columns that have room; what other commands ask for, and how it is, stay in any case."""
    columns = list(rows[0])
    wide = {name: GAP + max(cell_len(name), *(row[name].cell_len for row in rows)) for name in columns}
    task, wide["TASK"] = wide["TASK"], min(wide["TASK"], LEAST_TASK)
    for name in SPARED:
        if sum(wide[column] for column in columns) <= width:
            break
        if name in columns:
            columns.remove(name)
    wide["TASK"] = min(task, width - sum(wide[column] for column in columns if column != "TASK"))
    if len(rows) > MANY:
        return _plain(rows, columns, wide)
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, GAP, 0, 0))
    for name in columns:
        side: Literal["left", "right"] = "right" if name in NUMBERS else "left"
        table.add_column(name, justify=side, width=wide[name] - GAP, overflow="ellipsis", no_wrap=True)
    for row in rows:
        table.add_row(*(row[name] for name in columns))
    return table


def _plain(rows: list[dict[str, Text]], columns: list[str], wide: dict[str, int]) -> Text:
    """A long table, set by hand: it is read by programs, and rich takes half a millisecond for each line."""

    def set_cell(name: str, text: str) -> str:
        width = wide[name] - GAP
        if cell_len(text) > width:
            text = set_cell_size(text, width - 1) + "…"
        fill = " " * (width - cell_len(text))
        return (fill + text if name in NUMBERS else text + fill) + " " * GAP

    lines = ["".join(set_cell(name, name) for name in columns)]
    lines += ["".join(set_cell(name, row[name].plain) for name in columns) for row in rows]
    return Text("\n".join(line.rstrip() for line in lines), no_wrap=True, overflow="ignore")


def matter(run: RunSummary) -> str:
    """What must be known of a run, else what it is for."""
    stuck = f"stuck: {run.stuck}" if run.stuck and run.ended is None else ""
    asked = run.doing.question if run.doing is not None and run.doing.question else ""
    words = run.problem or run.waiting or asked or stuck or run.task
    words = f"tampered with: {run.tampering}; {words}" if run.tampering else words
    return " ".join(words.split())


def _doing(run: RunSummary) -> Text:
    words = run.doing.words if run.doing is not None else ""
    return Text(
        words,
        style="red" if words.startswith("wedged") else "yellow" if "person" in words or "needs you" in words else "",
    )


def _status(status: str) -> Text:
    return Text(status, style=style_of(status))
