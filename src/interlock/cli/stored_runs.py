"""interlock export, verify and prune: export a run, check a journal for changes, remove old runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..core import BadInput, NotFound
from .app import HubOption, finite, new_app
from .completion import offer_runs
from .output import print_json, say, say_error

if TYPE_CHECKING:
    from ..journal import Head


export_app = new_app()


@export_app.command()
def export(
    run: Annotated[str, Argument(help="A run's id, name or unique prefix.", autocompletion=offer_runs)],
    output: Annotated[
        Path | None, Option("--output", "-o", help="A .tar.gz, a .zip or a folder; default: RUN.tar.gz.")
    ] = None,
    json: Annotated[bool, Option("--json", help='{"run_id", "path", "bytes"}')] = False,
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


verify_app = new_app()


@verify_app.command()
def verify(
    run: Annotated[
        str, Argument(metavar="RUN|FILE", help="A run, or an exported file or folder.", autocompletion=offer_runs)
    ],
    json: Annotated[
        bool, Option("--json", help='{"run_id", "verdict", "records", "key", "damage": [{"what", "seq"}], ...}')
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
    elif run and ("/" in run or path.is_dir()):
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


prune_app = new_app()

DAY = 86_400


@prune_app.command()
def prune(
    older_than: Annotated[
        float | None, Option(help="Days since the run was last active.", min=0, callback=finite)
    ] = None,
    keep: Annotated[int | None, Option(help="Keep this many of the newest.", min=0)] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Only show what would be removed.")] = False,
    json: Annotated[bool, Option("--json", help='{"removed": [{"run_id", "name", "bytes", "why"}], "failed"}')] = False,
) -> None:
    """Remove runs: the old ones, all but the newest, or what exceeds store.max_bytes. Never a live or a paused one.

    Exit status: 0 done, 4 a run could not be removed (it is listed).

    Example: interlock prune --older-than 30 --dry-run
    """
    from ..config import load
    from ..contain import refuse_inside
    from ..journal import Pruned, open_store

    if not dry_run:
        refuse_inside("remove runs")
    config = load()
    failed: list[Pruned] = []
    removed = open_store(config).prune(
        older_than_s=older_than * DAY if older_than is not None else None,
        keep_last=keep,
        max_bytes=config.store.max_bytes,
        dry_run=dry_run,
        failed=failed,
    )
    if json:
        print_json({"removed": removed, "failed": failed})
        raise SystemExit(4 if failed else 0)
    for run in removed:
        say(f"{'would remove' if dry_run else 'removed'} {run.run_id} {run.name} ({run.bytes:,} bytes, {run.why})")
    for run in failed:
        say_error(f"{run.run_id} {run.name} ({run.why}) is still there: {run.problem}")
    if failed:
        raise SystemExit(4)
    if not removed:
        say("Nothing to remove.")
