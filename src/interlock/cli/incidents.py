"""interlock incidents: what emergency stops left behind."""

from __future__ import annotations

from typing import Annotated

import typer

from .app import new_app
from .output import ROOMY, print_json, print_table, table_console

app = new_app()


@app.command()
def incidents(
    every: Annotated[bool, typer.Option("--all", help="Include settled ones.")] = False,
    json: Annotated[bool, typer.Option("--json", help='{"incidents": [...]}')] = False,
) -> None:
    """List the incidents that need a decision.

    Example: interlock incidents --all
    """
    from rich.table import Table

    from ..runtime import Incidents
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
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    # Where there is little room, what happened is worth more than when and of what kind.
    roomy = console.width >= ROOMY
    for column in ("INCIDENT", "RUN", *(("WHEN", "ISSUE") if roomy else ()), "STATUS"):
        table.add_column(column, no_wrap=True)
    table.add_column("SUMMARY", overflow="fold")
    for stored in found:
        status = stored.status if stored.option is None else f"{stored.status} ({stored.option})"
        more = (moment(stored.incident.time), stored.incident.issue.type) if roomy else ()
        table.add_row(stored.id, stored.incident.run_id, *more, status, stored.report.summary)
    print_table(console, table)
