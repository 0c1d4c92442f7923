"""Shared by the commands on runs: the store, and how a run is shown."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
from rich.cells import cell_len, set_cell_size
from rich.table import Table
from rich.text import Text

from ..config import Config, load, load_anyway
from ..core import printable
from ..journal import RunSummary, Store
from .output import ending_style, money, say_error

if TYPE_CHECKING:
    from ..link import HubClient, RemoteRun

STATUS = {
    "running": "green",
    "pausing": "yellow",
    "paused": "yellow",
    "limit": "yellow",
    "aborted": "red",
    "killed": "red",
    "unreadable": "red",
    "lost": "red",
    "unknown": "red",
}

NUMBERS = frozenset(("STEPS", "ISSUES", "INTERVENTIONS", "COST"))
DROPPED_FIRST = ("INTERVENTIONS", "COST", "STARTED", "ISSUES", "TASK", "STEPS", "DOING", "HOST")
"""Columns that are dropped, in this order, if there is no room for all."""

GAP = 2
MANY = 200
"""Rows from which a table is formatted without rich."""

LEAST_TASK = 16
"""Characters of a task that are worth a column."""


def the_store(config: Config | None = None) -> Store:
    """The store of the current configuration."""
    # Not through runtime, whose import takes longer than these commands.
    folder = (config or load_anyway(say_error)).store.dir
    return Store(Path(folder).expanduser() if folder else None)


def open_hub(url: str) -> HubClient:
    """A connection to the hub at this address, with the credentials of the configuration."""
    from msgspec.structs import replace

    from ..link import HubClient

    return HubClient(replace(load().hub, url=url))


def shown_run(run: RunSummary) -> dict[str, object]:
    """A run as JSON, with status and outcome as people see them."""
    return {**msgspec.to_builtins(run), "status": run.shown, "outcome": run.outcome}


def runs_table(runs: list[RunSummary], width: int) -> Table | str:
    """One line per run, fitted to the width."""
    return _fitting([_row(run, run.outcome) for run in runs], width)


def hub_table(runs: list[RemoteRun], width: int) -> Table | str:
    """One line per run, with its host."""
    rows = [{"RUN": run.summary.run_id, "HOST": run.host, **_row(run.summary, run.outcome)} for run in runs]
    return _fitting([{name: row[name] for name in row if name not in ONLY_HERE} for row in rows], width)


ONLY_HERE = ("DOING", "ISSUES", "INTERVENTIONS")
"""Columns that runs on a hub do not have."""


def _row(run: RunSummary, outcome: str) -> dict[str, str]:
    return {
        "RUN": run.run_id,
        "NAME": run.name,
        "STATUS": outcome,
        "DOING": run.doing.words if run.doing is not None else "",
        "STEPS": f"{run.steps:,}",
        "ISSUES": f"{run.issues:,}",
        "INTERVENTIONS": f"{run.interventions:,}",
        "COST": money(run.cost_usd, run.max_cost_usd, run.unpriced_tokens),
        "STARTED": moment(run.started),
        "TASK": headline(run),
    }


def _fitting(rows: list[dict[str, str]], width: int) -> Table | str:
    """A table with the columns that fit; RUN, NAME and STATUS always stay."""
    columns = list(rows[0])
    wide = {name: GAP + max(len(name), *(_cells(row[name]) for row in rows)) for name in columns}
    task, wide["TASK"] = wide["TASK"], min(wide["TASK"], LEAST_TASK)
    for name in DROPPED_FIRST:
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
        table.add_row(*(Text(row[name], style=STYLES.get(name, _no_style)(row[name])) for name in columns))
    return table


def _plain(rows: list[dict[str, str]], columns: list[str], wide: dict[str, int]) -> str:
    """A long table without rich, which takes half a millisecond per line."""

    def set_cell(name: str, text: str) -> str:
        width = wide[name] - GAP
        if text.isascii() and text.isprintable() and len(text) <= width:
            return text.rjust(width) if name in NUMBERS else text.ljust(width)
        text = printable(text)
        cells = _cells(text)
        if cells > width:
            text, cells = set_cell_size(text, width - 1) + "…", width
        fill = " " * (width - cells)
        return fill + text if name in NUMBERS else text + fill

    gap = " " * GAP
    head = dict(zip(columns, columns, strict=True))
    return "".join(gap.join(set_cell(name, row[name]) for name in columns).rstrip() + "\n" for row in (head, *rows))


def _cells(text: str) -> int:
    return len(text) if text.isascii() else cell_len(text)


def headline(run: RunSummary) -> str:
    """The most important fact about a run, else its task."""
    stuck = f"stuck: {run.stuck}" if run.stuck and run.ended is None else ""
    asked = run.doing.question if run.doing is not None and run.doing.question else ""
    words = run.problem or run.unstopped or run.waiting or asked or stuck or run.task
    words = f"tampered with: {run.tampering}; {words}" if run.tampering else words
    return " ".join(words.split())


def _style_of_doing(words: str) -> str:
    return "red" if words.startswith("wedged") else "yellow" if "person" in words or "needs you" in words else ""


def _no_style(_: str) -> str:
    return ""


def style_of(status: str) -> str:
    """The colour of a status or of an outcome."""
    return STATUS.get(status) or ending_style(status.partition(" ")[0])


def moment(time: float) -> str:
    """A time for people."""
    return datetime.fromtimestamp(time).strftime("%Y-%m-%d %H:%M") if time else ""


STYLES = {"STATUS": style_of, "DOING": _style_of_doing}
"""The columns with colours."""
