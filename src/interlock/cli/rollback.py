"""interlock rollback: take a workspace back to a checkpoint."""

from __future__ import annotations

from typing import Annotated

import typer

from .app import new_app
from .completion import offer_runs
from .output import print_json

app = new_app()


@app.command()
def rollback(
    run: Annotated[
        str | None,
        typer.Argument(
            help="Take back what this run changed; without it everything that differs.", autocompletion=offer_runs
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="CHECKPOINT",
            help="Where to: an id or a label; default: a run's start, else the newest that differs.",
        ),
    ] = None,
    path: Annotated[list[str] | None, typer.Option("--path", help="Only this file or folder; may be repeated.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also what is not known to be the run's work, and past a git lock.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help='{"checkpoint_id", "safety_id", "changed", ...}')] = False,
) -> None:
    """Go back to a checkpoint. What is there now is saved first: `interlock undo` takes the rollback back.

    Exit status: 0 everything went back, 1 something that differs was left alone (named, also by --dry-run), 4 failed.

    Example: interlock rollback --to c12 --path src
    """
    from .checkpoint_text import plan_as_json, print_plan, print_restored, restored_as_json, restored_status
    from .console import Console
    from .workspace import confirm, open_checkpoints, progress_bar, relative_paths, resolve_run

    console = Console(highlight=False)
    run_id = resolve_run(run)
    with open_checkpoints(run) as found:
        paths = relative_paths(path or [], found.workspace)
        target = found.get(to) if to is not None else found.default_target(run_id)
        if not dry_run:
            # Before it is said that there is nothing to do: a run that is at work has more to come.
            found.refuse_other_run(force=force)
        own = found.own_changes(target.id, run_id) if run_id is not None and not force else None
        plan = found.preview(target.id, paths, own_changes=own)
        if dry_run and json:
            print_json(plan_as_json(plan))
            raise SystemExit(1 if plan.left_alone else 0)
        if not json:
            print_plan(console, plan)
        if dry_run or (not plan.changes and not json):
            raise SystemExit(1 if plan.left_alone else 0)
        confirm("Go back?", yes=yes, json=json)
        with progress_bar("Going back") as progress:
            done = found.restore(target.id, paths, own_changes=own, force=force, progress=progress)
    if json:
        print_json(restored_as_json(done))
    else:
        print_restored(console, done, f"Went back to {done.checkpoint_id}", plan)
    raise SystemExit(restored_status(done))
