"""interlock ps: the runs."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from .app import new_app
from .output import print_json

app = new_app()


@app.command()
def ps(
    every: Annotated[bool, typer.Option("--all", help="Ended runs too.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Show again until interrupted.")] = False,
    json: Annotated[bool, typer.Option("--json", help='{"runs": [...]}')] = False,
) -> None:
    """List the live runs.

    Example: interlock ps --all
    """
    from rich.console import Console
    from rich.live import Live

    from ..core import ENDED
    from ..journal import RunSummary
    from .runs import runs_table, shown_status, the_store

    store = the_store()

    def listed() -> list[RunSummary]:
        return [run for run in store.runs() if every or run.status not in ENDED]

    console = Console(highlight=False)
    if json:
        print_json({"runs": [{**msgspec.to_builtins(run), "status": shown_status(run)} for run in listed()]})
    elif watch:
        import time

        with Live(runs_table(listed()), console=console, screen=False, auto_refresh=False) as live:
            while True:
                time.sleep(0.5)
                live.update(runs_table(listed()), refresh=True)
    elif runs := listed():
        console.print(runs_table(runs))
    else:
        console.print("No runs." if every else "No live runs. interlock ps --all lists the ended ones.")
