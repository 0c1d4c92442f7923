"""interlock install and uninstall: permanent hooks that talk to interlock serve; changes are shown first."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..core import BadInput, printable
from .app import new_app
from .output import print_json

if TYPE_CHECKING:
    from ..adapters.hooks import FileChange


app = new_app()


@app.command()
def install(
    agent: Agent, project: Project = None, diff: Diff = False, yes: Yes = False, as_json: AsJson = False
) -> None:
    """Install permanent hooks that talk to interlock serve. Shows changes first and keeps a backup.

    Example: interlock install claude-code --project . --yes
    """
    from ..adapters.hooks import plan_install

    carry_out(
        plan_install, agent, project, diff=diff, yes=yes, as_json=as_json, nothing="these hooks are already installed"
    )


Agent = Annotated[str, Argument(help="claude-code, codex, gemini or opencode.", metavar="AGENT")]
Project = Annotated[
    Path | None, Option("--project", help="Use this folder's settings instead of the user's.", metavar="FOLDER")
]
Diff = Annotated[bool, Option("--diff", help="Show every line that changes.")]
Yes = Annotated[bool, Option("--yes", help="Do not ask.")]
AsJson = Annotated[bool, Option("--json", help="Print what was changed as JSON.")]


def carry_out(
    plan: Callable[[str, Path | None], tuple[FileChange, ...]],
    agent: str,
    project: Path | None,
    *,
    diff: bool,
    yes: bool,
    as_json: bool,
    nothing: str,
    removing: bool = False,
) -> None:
    """Show the changes, ask, make them, and print where the backups are."""
    from ..adapters.hooks import finish_install, finish_uninstall

    if project is not None and not project.is_dir():
        raise BadInput("the project is not a folder", where=str(project))
    where = project.resolve() if project is not None else None
    needed = [change for change in plan(agent, where) if change.is_needed]
    if not as_json:
        for change in needed:
            sys.stdout.write(printable(change.diff() if diff else f"{change.summary()}\n"))
        sys.stdout.flush()
    if needed and not yes:
        if not sys.stdin.isatty():
            raise BadInput("no terminal to confirm the change", todo="Review it with --diff, then add --yes.")
        typer.confirm("Make this change?", abort=True, err=True)
    made = [(change, change.make()) for change in needed]
    if removing:
        finish_uninstall(needed, where or Path.home())
    else:
        finish_install(needed)
    if as_json:
        print_json({"changed": [{"path": str(c.path), "backup": str(b) if b else None} for c, b in made]})
        return
    for change, backup in made:
        sys.stdout.write(f"{change.done} {change.path}" + (f" (backup: {backup})\n" if backup else "\n"))
    if not made:
        sys.stdout.write(f"{nothing}\n")
    elif not removing:
        sys.stdout.write("next: interlock serve supervises these sessions (--install-service keeps it running)\n")


uninstall_app = new_app()


@uninstall_app.command()
def uninstall(
    agent: Agent, project: Project = None, diff: Diff = False, yes: Yes = False, as_json: AsJson = False
) -> None:
    """Remove the hooks that interlock install added. Shows changes first and keeps a backup.

    Example: interlock uninstall claude-code --project . --yes
    """
    from ..adapters.hooks import plan_uninstall

    nothing = "no Interlock hooks are installed there"
    carry_out(plan_uninstall, agent, project, diff=diff, yes=yes, as_json=as_json, nothing=nothing, removing=True)
