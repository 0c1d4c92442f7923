"""interlock ps: lists the runs."""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from typer import Option

from .app import new_app
from .output import many, print_json, rendered, say_error, table_console

if TYPE_CHECKING:
    from rich.table import Table

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
    from ..journal import RunSummary
    from .runs import runs_table, shown_run, the_store

    if hub is not None:
        list_hub(hub, every, watch, json)
        return
    store = the_store()

    def listed() -> list[RunSummary]:
        return [run for run in store.runs() if every or run.status not in ENDED]

    def rows() -> list[dict[str, object]]:
        return [shown_run(run) for run in listed()]

    if json:
        say_rows(rows, watch)
    else:
        say_table(lambda width: runs_table(runs, width) if (runs := listed()) else None, every, watch)


def list_hub(url: str, every: bool, watch: bool, json: bool) -> None:
    """List the runs of all machines; those of an unreachable host are unknown."""
    from ..core import ENDED
    from ..link import RemoteRun
    from .runs import hub_table, open_hub, shown_run

    with open_hub(url) as client:

        def listed() -> list[RemoteRun]:
            return [run for run in client.runs() if every or run.summary.status not in ENDED]

        def rows() -> list[dict[str, object]]:
            return [
                {**shown_run(run.summary), "status": run.status, "outcome": run.outcome, "host": run.host}
                for run in listed()
            ]

        if json:
            say_rows(rows, watch)
        else:
            say_table(lambda width: hub_table(runs, width) if (runs := listed()) else None, every, watch)
        for why, count in client.refused.items():
            say_error(f"{many(count, 'row')} of runs not shown: {why}. See: interlock hub keys")


def say_rows(rows: Callable[[], list[dict[str, object]]], watch: bool) -> None:
    """Print one document; with --watch, another one whenever something has changed."""
    last: object = None
    while True:
        now = rows()
        if now != last:
            print_json({"runs": now})
            last = now
        if not watch or not is_read():
            return
        time.sleep(POLL_S)


def say_table(table: Callable[[int], Table | str | None], every: bool, watch: bool) -> None:
    """Print a table; with --watch, refresh it in place on a terminal, else print it again whenever it has changed."""
    console = table_console()
    nothing = (
        "No runs yet. Start one: interlock run -- COMMAND" if every else "No live runs. All runs: interlock ps --all"
    )

    def made() -> Table | str:
        return table(console.width) or f"{nothing}\n"

    if watch and console.is_terminal:
        from rich.live import Live
        from rich.text import Text

        def shown() -> Table | Text:
            now = made()
            return Text(now.removesuffix("\n"), no_wrap=True, overflow="ignore") if isinstance(now, str) else now

        with Live(shown(), console=console, auto_refresh=False) as live:
            while True:
                time.sleep(POLL_S)
                live.update(shown(), refresh=True)
    last = ""
    while True:
        now = made()
        now = now if isinstance(now, str) else rendered(console, now)
        if now != last:
            last = now
            sys.stdout.write(last)
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
