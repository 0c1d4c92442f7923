"""interlock incidents and incident: show emergency stops, and choose how to continue."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..core import Context, InvalidState
from ..intervene import OptionName
from .app import new_app
from .completion import offer_incidents
from .output import ROOMY, print_hanging, print_json, print_table, say, say_error, table_console

if TYPE_CHECKING:
    from ..runtime import StoredIncident


app = new_app("Inspect an emergency stop and choose one of the four options.")


@app.command()
def show(
    incident: Annotated[str, Argument(help="Its id or a unique prefix.", autocompletion=offer_incidents)],
    json: Annotated[bool, Option("--json", help="Show everything that is stored.")] = False,
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
    incident: Annotated[str, Argument(help="Its id or a unique prefix.", autocompletion=offer_incidents)],
    option: Annotated[OptionName, Option(help="The option.")],
    config: Annotated[Path | None, Option(help="A configuration file.")] = None,
    summary: Annotated[Path | None, Option(help="Write a summary as JSON to this file.")] = None,
    json: Annotated[bool, Option("--json", help="With abort: what was cleaned up.")] = False,
) -> None:
    """Continue after an emergency stop, in this terminal, as a new run; or clean up.

    Example: interlock incident continue incident-1f2e --option resume_with_limits
    """
    from ..config import load
    from ..journal import open_store
    from ..runtime import Incidents, abort, choose, continue_run

    settings = load(config, warn=say_error)
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


list_app = new_app()


@list_app.command()
def incidents(
    every: Annotated[bool, Option("--all", help="Include settled ones.")] = False,
    json: Annotated[bool, Option("--json", help='{"incidents": [...]}')] = False,
) -> None:
    """List the incidents that need a decision.

    Example: interlock incidents --all
    """
    from ..runtime import Incidents
    from .console import new_table
    from .runs import moment, the_store

    found = [stored for stored in Incidents(the_store()).all() if every or stored.status == "open"]
    if json:
        print_json(
            {
                "incidents": [
                    {
                        "id": stored.id,
                        "run_id": stored.incident.run_id,
                        "time": stored.incident.time,
                        "issue": stored.incident.issue.type,
                        "status": stored.status,
                        "option": stored.option,
                        "continued_by": stored.continued_by,
                        "summary": stored.report.summary,
                    }
                    for stored in found
                ]
            }
        )
        return
    console = table_console()
    if not found:
        console.print("No open incidents." if not every else "No incidents.")
        return
    # On a narrow terminal, the summary matters more than time and type.
    roomy = console.width >= ROOMY
    columns = ("INCIDENT", "RUN", *(("WHEN", "ISSUE") if roomy else ()), "STATUS", "SUMMARY")
    table = new_table(*columns, fold=("SUMMARY",))
    for stored in found:
        status = stored.status if stored.option is None else f"{stored.status} ({stored.option})"
        more = (moment(stored.incident.time), stored.incident.issue.type) if roomy else ()
        table.add_row(stored.id, stored.incident.run_id, *more, status, stored.report.summary)
    print_table(console, table)
