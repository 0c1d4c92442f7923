"""interlock demo: a scripted agent goes wrong in every way that we detect, supervised live."""

from __future__ import annotations

from typing import Annotated

import typer

from .app import new_app
from .output import print_json

app = new_app()


@app.command()
def demo(
    json: Annotated[bool, typer.Option("--json", help="The events, one JSON line each.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the run, to look at with top, web and report.")] = False,
    fast: Annotated[bool, typer.Option("--fast", help="Without pauses for reading.")] = False,
) -> None:
    """Watch a scripted agent go wrong, and what is done about it. Takes under a minute and leaves nothing behind.

    Example: interlock demo --keep
    """
    from ..demo import play
    from .runs import the_store

    store = the_store() if keep else None
    if json:
        for event in play(fast=True, keep=store):
            print_json(event)
        return
    from ..demo.display import Stage
    from .console import Console

    console = Console(highlight=False)
    stage = Stage(console, kept=keep)
    stage.open()
    for event in play(fast=fast or not console.is_terminal, keep=store):
        stage.show(event)
