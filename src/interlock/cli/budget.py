"""interlock budget: what runs have spent together, and where that leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .app import new_app
from .output import print_json, print_table, say_error, table_console

if TYPE_CHECKING:
    from ..report.budgets import BudgetStanding

app = new_app()


@app.command()
def budget(
    json: Annotated[bool, typer.Option("--json", help='{"budgets": [...]}')] = False,
) -> None:
    """Show each budget: what is used and reserved in its period, and the forecast.

    Example: interlock budget
    """
    from ..config import load
    from ..report.budgets import read_budgets
    from .runs import the_store

    config = load(tell=say_error)
    standings = read_budgets(config, the_store(config))
    for each in standings:
        if each.fits_nothing:
            say_error(f"budget {each.name}: its match fits no run that is kept here; check budgets[].match")
    if json:
        print_json({"budgets": standings})
        return
    if not standings:
        typer.echo("No budgets are configured. See budgets in the configuration.")
        return
    _print(standings)


def _print(standings: list[BudgetStanding]) -> None:
    from rich.table import Table

    from ..redact import one_line

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("BUDGET", "PERIOD", "USED", "RESERVED", "LIMIT", "AT LIMIT", "FORECAST"):
        table.add_column(column, no_wrap=column != "FORECAST")
    for each in standings:
        amounts = (each.shown(each.used), each.shown(each.reserved), each.limit)
        table.add_row(one_line(each.name), each.period, *amounts, each.on_limit, each.forecast)
    print_table(table_console(), table)
