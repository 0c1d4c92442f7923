"""interlock uninstall: remove the hooks that interlock install put in."""

from __future__ import annotations

from .app import new_app
from .installation import Agent, AsJson, Diff, Project, Yes, carry_out

app = new_app()


@app.command()
def uninstall(
    agent: Agent, project: Project = None, diff: Diff = False, yes: Yes = False, as_json: AsJson = False
) -> None:
    """Remove the hooks that interlock install added. Shows changes first and keeps a backup.

    Example: interlock uninstall claude-code --project . --yes
    """
    from ..adapters.hooks import plan_uninstall

    nothing = "no Interlock hooks are installed there"
    carry_out(plan_uninstall, agent, project, diff=diff, yes=yes, as_json=as_json, nothing=nothing, removing=True)
