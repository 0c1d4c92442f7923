"""interlock verify: whether a journal is as its owner wrote it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..core import BadInput, NotFound
from .app import new_app
from .completion import offer_runs
from .control_requests import HubOption
from .output import print_json, say, say_error

if TYPE_CHECKING:
    from ..journal import Head

app = new_app()


@app.command()
def verify(
    run: Annotated[
        str, typer.Argument(metavar="RUN|FILE", help="A run, or an exported file or folder.", autocompletion=offer_runs)
    ],
    json: Annotated[
        bool, typer.Option("--json", help='{"run_id", "verdict", "records", "key", "damage": [{"what", "seq"}], ...}')
    ] = False,
    hub: HubOption = None,
) -> None:
    """Check that no record of a run was changed, removed or added since its owner wrote it.

    With --hub, also check that its end is not missing: the owner publishes the signed head of the journal there.

    Exit status: 0 intact, 1 changed or damaged, 4 it cannot be verified (an older or a newer version wrote it, or it is
    not signed).

    Example: interlock verify my-run.tar.gz
    """
    from ..journal import verify_export, verify_journal
    from .runs import the_store

    path = Path(run).expanduser()
    if path.is_file() or (path / "journal.db").exists():
        found = verify_export(path)
    elif "/" in run or path.is_dir():
        raise BadInput(f"{run} is not an export", todo="Specify a run, or a file from interlock export.")
    else:
        folder = the_store().find(run)
        found = verify_journal(folder, _published(hub, folder.run_id) if hub else ())
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


def _published(url: str, run_id: str) -> list[Head]:
    from .runs import open_hub

    with open_hub(url) as client:
        heads = client.heads(run_id)
    if not heads:
        raise NotFound(f"the hub has no signed head of run {run_id}", where=url, todo="It keeps them for 24 hours.")
    return heads
