"""interlock install: install permanent hooks that talk to interlock serve."""

from __future__ import annotations

from .app import new_app
from .installation import Agent, AsJson, Diff, Project, Yes, carry_out

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
