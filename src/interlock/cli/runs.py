"""What the commands on runs share: the store, and how a run is shown."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from ..config import load
from ..journal import RunSummary, Store

if TYPE_CHECKING:
    from ..link.outbox import RemoteRun

STATUS = {
    "running": "green",
    "pausing": "yellow",
    "paused": "yellow",
    "done": "dim",
    "limit": "yellow",
    "aborted": "red",
    "unreadable": "red",
    "lost": "red",
    "unknown": "red",
}


def the_store() -> Store:
    """The store of the configuration in force."""
    # Not by way of runtime, whose import takes longer than what these commands do.
    place = load().store.dir
    return Store(Path(place).expanduser() if place else None)


def shown_status(run: RunSummary) -> str:
    """The status; a live one without an owner is `lost`, for nobody supervises it."""
    return run.shown


def runs_table(runs: list[RunSummary]) -> Table:
    """One line a run."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("RUN", "NAME", "STATUS"):
        table.add_column(column, no_wrap=True)
    for column in ("STEPS", "ISSUES", "ANSWERS", "COST"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("STARTED", no_wrap=True)
    table.add_column("TASK", overflow="ellipsis", no_wrap=True)
    for run in runs:
        status = shown_status(run)
        table.add_row(
            run.run_id,
            run.name,
            Text(status, style=STATUS.get(status, "")),
            f"{run.steps:,}",
            f"{run.issues:,}",
            f"{run.interventions:,}",
            money(run.cost_usd, run.max_cost_usd),
            moment(run.started),
            Text(" ".join((run.problem or run.waiting or run.task).split())),
        )
    return table


def hub_table(runs: list[RemoteRun]) -> Table:
    """One line a run, with its host."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("RUN", "HOST", "NAME", "STATUS", "STEPS", "COST", "STARTED"):
        table.add_column(column, no_wrap=True)
    table.add_column("TASK", overflow="ellipsis", no_wrap=True)
    for run in runs:
        each = run.summary
        table.add_row(
            each.run_id,
            run.host,
            each.name,
            Text(run.status, style=STATUS.get(run.status, "")),
            f"{each.steps:,}",
            money(each.cost_usd, each.max_cost_usd),
            moment(each.started),
            Text(" ".join((each.waiting or each.task).split())),
        )
    return table


def money(spent: float, budget: float | None) -> str:
    """Dollars, and of how many."""
    return f"${spent:,.2f}" + (f"/{budget:,.2f}" if budget is not None else "")


def moment(time: float) -> str:
    """A time for people."""
    return datetime.fromtimestamp(time).strftime("%Y-%m-%d %H:%M") if time else ""
