"""interlock uninstall: remove the hooks that interlock install put in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import new_app

app = new_app()


@app.command()
def uninstall(
    agent: Annotated[str, typer.Argument(help="claude-code, codex, gemini or opencode.", metavar="AGENT")],
    project: Annotated[
        Path | None, typer.Option("--project", help="In this folder's settings, not the user's.", metavar="DIR")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was changed as JSON.")] = False,
) -> None:
    """Remove the hooks that interlock install put in. The change is shown first, and backed up.

    Example: interlock uninstall claude-code --project . --yes
    """
    from ..adapters.hooks.places import plan_uninstall
    from ..core import BadInput
    from .installation import carry_out

    if project is not None and not project.is_dir():
        raise BadInput("the project is not a folder", where=str(project))
    where = project.resolve() if project is not None else None
    carry_out(plan_uninstall(agent, where), yes=yes, as_json=as_json, nothing="there are no hooks of ours there")
