"""interlock verify: whether a journal is as its owner wrote it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..core import BadInput
from .app import new_app
from .completion import offer_runs
from .output import print_json, say, say_error

app = new_app()


@app.command()
def verify(
    run: Annotated[
        str, typer.Argument(metavar="RUN|FILE", help="A run, or an exported file or folder.", autocompletion=offer_runs)
    ],
    json: Annotated[
        bool, typer.Option("--json", help='{"run_id", "verdict", "records", "key", "damage": [{"what", "seq"}], ...}')
    ] = False,
) -> None:
    """Check that no record of a run was changed, removed or added since its owner wrote it.

    Exit status: 0 intact, 1 changed or damaged, 4 it cannot be verified (an older or a newer version wrote it, or it is
    not signed).

    Example: interlock verify my-run.tar.gz
    """
    from ..journal.verify import verify_journal
    from ..journal.verify_export import verify_export
    from .runs import the_store

    path = Path(run).expanduser()
    if path.is_file() or (path / "journal.db").exists():
        found = verify_export(path)
    elif "/" in run or path.is_dir():
        raise BadInput(f"{run} is not an export", todo="Give a run, or what interlock export wrote.")
    else:
        found = verify_journal(the_store().find(run))
    if json:
        print_json(found)
    elif found.intact:
        say(f"{found.run_id}: {found.words}")
    else:
        for damage in found.damage:
            say_error(f"{found.run_id}: {damage.what}")
        if not found.damage:
            say_error(f"{found.run_id}: {found.words}")
    if not found.intact:
        raise SystemExit(1 if found.verdict == "changed" else 4)
