"""interlock checkpoints: the checkpoints of a workspace."""

from __future__ import annotations

from typing import Annotated

import typer

from .app import new_app
from .completion import offer_runs
from .output import print_json, say, table_console

app = new_app()


@app.command()
def checkpoints(
    run: Annotated[
        str | None,
        typer.Argument(help="Only this run's; default: all of the current workspace.", autocompletion=offer_runs),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help='{"workspace": ..., "checkpoints": [{"id", ...}]}')] = False,
) -> None:
    """List checkpoints, newest first (with --json oldest first).

    Example: interlock checkpoints
    """

    from .checkpoint_text import as_json, print_checkpoints
    from .workspace import open_checkpoints, resolve_run

    wanted = resolve_run(run)
    with open_checkpoints(run) as found:
        infos = [info for info in found.list() if wanted is None or info.run_id == wanted]
        if json:
            print_json({"workspace": str(found.workspace), "checkpoints": [as_json(info) for info in infos]})
        elif infos:
            print_checkpoints(table_console(), infos)
        else:
            say(f"No checkpoints of {found.workspace} yet. Create one with: interlock checkpoint create")
