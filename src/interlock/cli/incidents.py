"""interlock incidents: what emergency stops left behind."""

from __future__ import annotations

from typing import Annotated

import typer

from .app import new_app
from .output import print_json

app = new_app()


@app.command()
def incidents(
    every: Annotated[bool, typer.Option("--all", help="Settled ones too.")] = False,
    json: Annotated[bool, typer.Option("--json", help='{"incidents": [...]}')] = False,
) -> None:
    """List the incidents that wait for somebody to choose a way on.

    Example: interlock incidents --all
    """
    from rich.console import Console
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
    console = Console(highlight=False)
    if not found:
        console.print("No open incidents." if not every else "No incidents.")
        return
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("INCIDENT", "RUN", "WHEN", "ISSUE", "STATUS"):
        table.add_column(column, no_wrap=True)
    table.add_column("SUMMARY", overflow="fold")
    for stored in found:
        status = stored.status if stored.option is None else f"{stored.status} ({stored.option})"
        facts = (stored.id, stored.incident.run_id, moment(stored.incident.time), stored.incident.issue.type, status)
        table.add_row(*facts, stored.report.summary)
    console.print(table)
