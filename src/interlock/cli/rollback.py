"""interlock rollback and undo: restore a workspace to a checkpoint, and undo the last rollback."""

from __future__ import annotations

from typing import Annotated

from msgspec.structs import asdict
from typer import Argument, Option

from .app import new_app
from .completion import offer_runs
from .output import print_json, say

app = new_app()


@app.command()
def rollback(
    run: Annotated[
        str | None,
        Argument(help="Revert what this run changed; default: everything that differs.", autocompletion=offer_runs),
    ] = None,
    to: Annotated[
        str | None,
        Option(
            metavar="CHECKPOINT",
            help="The target, an id or a label; default: the run's start, or the newest that differs.",
        ),
    ] = None,
    path: Annotated[list[str] | None, Option(help="Only this file or folder; may be repeated.")] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Only show what would change.")] = False,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
    force: Annotated[
        bool, Option("--force", help="Include what may not be the run's work, and ignore a git lock.")
    ] = False,
    json: Annotated[bool, Option("--json", help='{"checkpoint_id", "safety_id", "changed", ...}')] = False,
) -> None:
    """Restore a checkpoint. The current state is saved first: `interlock undo` reverts the rollback.

    Exit status: 0 everything was restored, 1 something was left alone (listed, also by --dry-run), 4 failed.

    Example: interlock rollback --to c12 --path src
    """
    from .checkpoint_text import print_plan, print_restored, restored_status
    from .console import Console
    from .workspace import confirm, open_checkpoints, progress_bar, relative_paths, resolve_run

    console = Console(highlight=False)
    run_id = resolve_run(run)
    with open_checkpoints(run) as found:
        paths = relative_paths(path or [], found.workspace)
        target = found.get(to) if to is not None else found.default_target(run_id)
        if not dry_run:
            # Even if there is nothing to do yet: a live run may change more files.
            found.refuse_other_run(force=force)
        own = found.own_changes(target.id, run_id) if run_id is not None and not force else None
        plan = found.preview(target.id, paths, own_changes=own)
        if dry_run and json:
            print_json(asdict(plan))
            raise SystemExit(1 if plan.left_alone else 0)
        if not json:
            print_plan(console, plan)
        if dry_run or (not plan.changes and not json):
            raise SystemExit(1 if plan.left_alone else 0)
        confirm("Roll back?", yes=yes, json=json)
        with progress_bar("Rolling back") as progress:
            done = found.restore(target.id, paths, own_changes=own, force=force, progress=progress)
    if json:
        print_json(asdict(done))
    else:
        print_restored(console, done, f"Rolled back to {done.checkpoint_id}", plan)
    raise SystemExit(restored_status(done))


undo_app = new_app()


@undo_app.command()
def undo(
    dry_run: Annotated[bool, Option("--dry-run", help="Only show what would change.")] = False,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
    force: Annotated[bool, Option("--force", help="Include what was changed since the rollback.")] = False,
    json: Annotated[bool, Option("--json", help='{"checkpoint_id", "safety_id", "changed", ...}')] = False,
) -> None:
    """Undo the last rollback of this workspace; later changes are left alone. Repeat to redo it.

    Exit status: 0 everything was restored, 1 something was left alone (listed, also by --dry-run), 4 failed.

    Example: interlock undo
    """
    from ..contain import refuse_inside
    from .checkpoint_text import print_plan, print_restored, restored_status
    from .console import Console
    from .workspace import confirm, open_checkpoints, progress_bar

    if not dry_run:
        refuse_inside("undo a rollback")
    console = Console(highlight=False)
    with open_checkpoints() as found:
        plan = found.preview_undo(force=force)
        if dry_run and json:
            print_json(asdict(plan))
        elif not json:
            # Once this undo is done, another one would repeat the rollback, with or without --force.
            print_plan(console, plan, advise=dry_run or not (yes and plan.changes))
        if dry_run or (not plan.changes and not json):
            raise SystemExit(1 if plan.left_alone else 0)
        confirm("Undo the rollback?", yes=yes, json=json)
        with progress_bar("Undoing") as progress:
            done = found.undo(force=force, progress=progress)
    if json:
        print_json(asdict(done))
    else:
        print_restored(console, done, "Undid the rollback", plan)
        if done.left_alone:
            say(f"Restore what was left alone with: interlock rollback --to {done.checkpoint_id} --path PATH")
    raise SystemExit(restored_status(done))
