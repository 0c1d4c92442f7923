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
    hub: Annotated[str | None, typer.Option("--hub", metavar="URL", help="Runs on all machines: nats://...")] = None,
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

    if hub is not None:
        list_hub(hub, every, watch, json)
        return
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


def list_hub(url: str, every: bool, watch: bool, json: bool) -> None:
    """The runs of all machines; one whose host has gone quiet is unknown."""
    from msgspec.structs import replace
    from rich.console import Console
    from rich.live import Live

    from ..config import load
    from ..core import ENDED
    from ..link.hub_client import HubClient
    from ..link.outbox import RemoteRun
    from .runs import hub_table

    console = Console(highlight=False)
    with HubClient(replace(load().hub, url=url)) as client:

        def listed() -> list[RemoteRun]:
            return [run for run in client.runs() if every or run.summary.status not in ENDED]

        if json:
            rows = [{**msgspec.to_builtins(run.summary), "status": run.status, "host": run.host} for run in listed()]
            print_json({"runs": rows})
        elif watch:
            import time

            with Live(hub_table(listed()), console=console, auto_refresh=False) as live:
                while True:
                    time.sleep(1.0)
                    live.update(hub_table(listed()), refresh=True)
        elif runs := listed():
            console.print(hub_table(runs))
        else:
            console.print("No runs." if every else "No live runs. interlock ps --all lists the ended ones.")
