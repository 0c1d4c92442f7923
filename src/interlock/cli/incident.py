"""interlock incident: look at what an emergency stop left behind, and choose a way on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..core import InvalidState
from ..intervene import OptionName
from .app import new_app
from .completion import offer_incidents
from .output import print_hanging, print_json, say, say_error

if TYPE_CHECKING:
    from ..runtime import StoredIncident

app = new_app("Inspect an emergency stop and choose one of the four options.")


@app.command()
def show(
    incident: Annotated[str, typer.Argument(help="Its id or a unique prefix.", autocompletion=offer_incidents)],
    json: Annotated[bool, typer.Option("--json", help="Show everything that is stored.")] = False,
) -> None:
    """Show the report of an emergency stop and its four options.

    Example: interlock incident show incident-1f2e
    """
    from ..runtime import Incidents
    from .runs import the_store

    stored = Incidents(the_store()).find(incident)
    if json:
        print_json(stored)
        return
    _print(stored)


@app.command("continue")
def continue_(
    incident: Annotated[str, typer.Argument(help="Its id or a unique prefix.", autocompletion=offer_incidents)],
    option: Annotated[OptionName, typer.Option("--option", help="The option.")],
    config: Annotated[Path | None, typer.Option("--config", help="A configuration file.")] = None,
    summary: Annotated[Path | None, typer.Option("--summary", help="Write a summary as JSON to this file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="With abort: what was cleaned up.")] = False,
) -> None:
    """Continue after an emergency stop, in this terminal, as a new run; or clean up.

    Example: interlock incident continue incident-1f2e --option resume_with_limits
    """
    from ..config import load
    from ..journal import open_store
    from ..runtime import Incidents, abort, choose, continue_run

    settings = load(config, tell=say_error)
    store = open_store(settings)
    incidents = Incidents(store)
    stored = incidents.find(incident)
    chosen = choose(stored, option)
    if chosen.name == "abort":
        done = abort(store, stored)
        if json:
            print_json({"incident": stored.id, "status": "aborted", "done": done})
        else:
            say(f"{stored.id} is settled: aborted. {'; '.join(done) or 'Nothing was left to clean up'}.")
        return
    if json:
        raise InvalidState("a continued run has no JSON output", todo="Use --summary FILE")
    from ..adapters.command import Launch
    from ..core import Context
    from .run_result import launch_and_exit

    going_on = continue_run(store, stored, chosen, settings)
    spec = going_on.spec
    context = stored.incident.context or Context(original_prompt=spec.task, workspace=spec.workspace)
    launch = Launch(
        spec=spec,
        config=going_on.config,
        context=context,
        store=store.root,
        needs_approval=going_on.needs_approval,
        removed_actions=going_on.removed_actions,
    )
    incidents.settle(stored, "continued", option, spec.run_id)
    launch_and_exit(launch, summary)


def _print(stored: StoredIncident) -> None:
    from rich.text import Text

    from .console import Console

    console = Console(highlight=False)
    print_hanging(console, stored.report.to_text())
    if stored.status != "open":
        by = f", as run {stored.continued_by}" if stored.continued_by else ""
        console.print(Text(f"Settled: {stored.option}{by}.", style="bold"))
        return
    console.print(Text("Options", style="bold"))
    for option in stored.options:
        mark = "·" if option.applicable else "✗"
        print_hanging(console, f"  {mark} {option.name}  {option.description}")
        below = option.command if option.applicable else f"not possible: {option.reason}"
        # Not wrapped: a command is there to be copied.
        console.print(Text(f"    {below}", style="dim"), soft_wrap=True)
