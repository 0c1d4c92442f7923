"""interlock gui watch: the watcher alone, on any display."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import finite
from .output import print_json


def watch(
    display: Annotated[
        str | None, typer.Option("--display", metavar=":N", help="The X display; default: the environment's.")
    ] = None,
    window: Annotated[str | None, typer.Option("--window", metavar="ID", help="Capture this window only.")] = None,
    interval: Annotated[
        float | None,
        typer.Option("--interval", min=0.05, callback=finite, metavar="SECONDS", help="Seconds between two checks."),
    ] = None,
    looks: Annotated[
        int | None, typer.Option("--looks", min=1, metavar="N", help="End after this many checks.")
    ] = None,
    observe: Annotated[bool, typer.Option("--observe", help="Watch, never act.")] = False,
    editor: Annotated[
        bool | None,
        typer.Option("--editor/--no-editor", help="Whether an editor must be in front; default: if there is one."),
    ] = None,
    name: Annotated[str, typer.Option("--name", help="A name for lists and control commands.")] = "watch",
    config: Annotated[Path | None, typer.Option("--config", help="A configuration file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One event per line.")] = False,
) -> None:
    """Check a display regularly and recover from problems, until Ctrl-C or cancel.

    Example: interlock gui watch --display :1 --interval 5
    """
    from ..config import load
    from ..gui import Watching, watch_display
    from ..gui.orchestrator import InterventionEvent
    from .console import Console
    from .gui_text import print_event

    console = Console(highlight=False, soft_wrap=True)

    def show(event: InterventionEvent) -> None:
        if json:
            print_json(event)
        else:
            print_event(console, event)

    wanted = Watching(
        display=display, window=window, interval_s=interval, looks=looks, observe=observe, editor=editor, name=name
    )
    watch_display(load(config), wanted, show)
