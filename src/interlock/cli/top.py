"""interlock top: the terminal UI."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ..core import BadInput
from .app import new_app
from .completion import offer_runs
from .output import say_error

app = new_app()


@app.command()
def top(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN", help="Open this run: an id, a name, or a unique prefix.", autocompletion=offer_runs
        ),
    ] = None,
    hub: Annotated[
        str | None, typer.Option("--hub", metavar="URL", help="Also runs on other machines: nats://host:port")
    ] = None,
) -> None:
    """Watch all runs, open one, and steer it with single keys.

    Example: interlock top
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadInput("top needs a terminal", todo="Use interlock ps --json, or interlock web.")
    from ..config import load, load_anyway
    from ..tui import RunSource, Top
    from .runs import open_hub, the_store

    # To a hub one goes with the right keys and certificates, or not at all.
    config = load_anyway(say_error) if hub is None else load()
    store = the_store(config)
    run_id = store.find(run).run_id if run is not None else None
    place = RunSource(store, config, hub=open_hub(hub) if hub else None, hub_name=hub or "")
    try:
        Top(place, run_id=run_id).run()
    finally:
        place.close()
