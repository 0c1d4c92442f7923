"""interlock ps: lists the runs."""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

from typer import Option

from .app import new_app
from .output import json_text, many, rendered, say_error, table_console

if TYPE_CHECKING:
    from rich.table import Table

    from ..link import RemoteRun

R = TypeVar("R")

app = new_app()

POLL_S = 0.5
"""Polling interval with --watch."""


@app.command()
def ps(
    every: Annotated[bool, Option("--all", "-a", help="Include ended runs.")] = False,
    watch: Annotated[bool, Option("--watch", help="Refresh until interrupted.")] = False,
    hub: Annotated[str | None, Option(metavar="URL", help="Runs on all machines: nats://...")] = None,
    json: Annotated[bool, Option("--json", help='{"runs": [...]}; with --watch one per line.')] = False,
) -> None:
    """List the live runs.

    Example: interlock ps --all
    """
    from ..core import ENDED
    from .runs import hub_table, open_hub, runs_table, shown_run, the_store

    if hub is None:
        store = the_store()
        _list(
            lambda: [run for run in store.runs() if every or run.status not in ENDED],
            shown_run, runs_table, every=every, watch=watch, json=json,
        )  # fmt: skip
        return
    with open_hub(hub) as client:
        _list(
            lambda: [run for run in client.runs() if every or run.summary.status not in ENDED],
            _remote_row, hub_table, every=every, watch=watch, json=json,
        )  # fmt: skip
        for why, count in client.refused.items():
            say_error(f"{many(count, 'row')} of runs not shown: {why}. See: interlock hub keys")


def _remote_row(run: RemoteRun) -> dict[str, object]:
    """A run on a hub as JSON; the status is unknown if its host is unreachable."""
    from .runs import shown_run

    return {**shown_run(run.summary), "status": run.status, "outcome": run.outcome, "host": run.host}


def _list(
    list_runs: Callable[[], list[R]],
    as_json: Callable[[R], dict[str, object]],
    as_table: Callable[[list[R], int], Table | str],
    *,
    every: bool,
    watch: bool,
    json: bool,
) -> None:
    """Print the runs; with --watch, refresh a table on a terminal, else print again whenever something has changed."""
    if json:
        _print_changes(lambda: json_text({"runs": [as_json(run) for run in list_runs()]}) + "\n", watch)
        return
    console = table_console()
    nothing = (
        "No runs yet. Start one: interlock run -- COMMAND\n"
        if every
        else "No live runs. All runs: interlock ps --all\n"
    )

    def table() -> Table | str:
        runs = list_runs()
        return as_table(runs, console.width) if runs else nothing

    if watch and console.is_terminal:
        from rich.live import Live
        from rich.text import Text

        def shown() -> Table | Text:
            now = table()
            return Text(now.removesuffix("\n"), no_wrap=True, overflow="ignore") if isinstance(now, str) else now

        with Live(shown(), console=console, auto_refresh=False) as live:
            while True:
                time.sleep(POLL_S)
                live.update(shown(), refresh=True)
    _print_changes(lambda: now if isinstance(now := table(), str) else rendered(console, now), watch)


def _print_changes(make: Callable[[], str], watch: bool) -> None:
    """Print a text; with --watch, print it again whenever it has changed."""
    last = ""
    while True:
        now = make()
        if now != last:
            last = now
            sys.stdout.write(now)
            sys.stdout.flush()
        if not watch or not is_read():
            return
        time.sleep(POLL_S)


def is_read() -> bool:
    """Whether someone still reads our output: a closed pipe shows only on poll or write."""
    asking = select.poll()
    try:
        asking.register(sys.stdout.fileno(), 0)
    except (OSError, ValueError):
        return True
    return not asking.poll(0)
