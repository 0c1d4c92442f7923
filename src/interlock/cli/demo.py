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
    fast: Annotated[bool, typer.Option("--fast", help="Without pauses for reading.")] = False,
) -> None:
    """Watch a scripted agent go wrong, and what is done about it. Takes under a minute and leaves nothing behind.

    Example: interlock demo --fast
    """
    from ..demo import play

    if json:
        for event in play(fast=True):
            print_json(event)
        return
    from rich.console import Console

    from ..demo.stage import Stage

    console = Console(highlight=False)
    stage = Stage(console)
    stage.open()
    for event in play(fast=fast or not console.is_terminal):
        stage.show(event)
