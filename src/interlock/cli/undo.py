"""interlock undo: take the last rollback back."""

from __future__ import annotations

from typing import Annotated

import typer

from .app import new_app
from .output import print_json

app = new_app()


@app.command()
def undo(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Include what was changed since the rollback.")] = False,
    json: Annotated[bool, typer.Option("--json", help='{"checkpoint_id", "safety_id", "changed", ...}')] = False,
) -> None:
    """Undo the last rollback of this workspace; later changes are left alone. Repeat to redo it.

    Exit status: 0 everything was restored, 1 something was left alone (listed, also by --dry-run), 4 failed.

    Example: interlock undo
    """
    from ..contain import refuse_inside
    from .checkpoint_text import plan_as_json, print_plan, print_restored, restored_as_json, restored_status
    from .console import Console
    from .workspace import confirm, open_checkpoints, progress_bar

    if not dry_run:
        refuse_inside("undo a rollback")
    console = Console(highlight=False)
    with open_checkpoints() as found:
        plan = found.preview_undo(force=force)
        if dry_run and json:
            print_json(plan_as_json(plan))
        elif not json:
            print_plan(console, plan)
        if dry_run:
            raise SystemExit(1 if plan.left_alone else 0)
        confirm("Undo the rollback?", yes=yes, json=json)
        with progress_bar("Undoing") as progress:
            done = found.undo(force=force, progress=progress)
    if json:
        print_json(restored_as_json(done))
    else:
        print_restored(console, done, "Undid the rollback", plan)
    raise SystemExit(restored_status(done))
