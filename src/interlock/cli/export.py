"""interlock export: one run as one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import new_app
from .completion import offer_runs
from .output import print_json, say

app = new_app()


@app.command()
def export(
    run: Annotated[str, typer.Argument(help="A run's id, name or unique prefix.", autocompletion=offer_runs)],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .tar.gz, a .zip or a folder; default: RUN.tar.gz.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help='{"run_id", "path", "bytes"}')] = False,
) -> None:
    """Export a run, live or ended, into a file that you can share.

    Example: interlock export my-run -o my-run.tar.gz
    """
    from .runs import the_store

    store = the_store()
    folder = store.find(run)
    path = store.export(run, output or Path(f"{folder.run_id}.tar.gz"))
    if json:
        size = path.stat().st_size if path.is_file() else 0
        print_json({"run_id": folder.run_id, "path": str(path), "bytes": size})
    else:
        say(f"wrote {path}")
