"""interlock prune: remove old runs."""

from __future__ import annotations

from typing import Annotated

import typer

from .app import finite, new_app
from .output import print_json, say, say_error

app = new_app()

DAY = 86_400


@app.command()
def prune(
    older_than: Annotated[
        float | None, typer.Option(help="Days since the run was last active.", min=0, callback=finite)
    ] = None,
    keep: Annotated[int | None, typer.Option(help="Keep this many of the newest.", min=0)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be removed.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help='{"removed": [{"run_id", "name", "bytes", "why"}], "failed"}')
    ] = False,
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
