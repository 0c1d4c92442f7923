"""interlock budget: what runs have spent together, and the forecast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from .app import new_app
from .output import print_json, print_table, say, say_error, table_console

if TYPE_CHECKING:
    from ..report import BudgetStanding

app = new_app()


@app.command()
def budget(json: Annotated[bool, Option("--json", help='{"budgets": [...]}')] = False) -> None:
    """Show each budget: what is used and reserved in its period, and the forecast.

    Example: interlock budget
    """
    from ..config import load
    from ..report import read_budgets
    from .runs import the_store

    config = load(warn=say_error)
    standings = read_budgets(config, the_store(config))
    for each in standings:
        if each.fits_nothing:
            say_error(f"budget {each.name} matches none of the stored runs: check its match in the configuration")
    if json:
        print_json({"budgets": standings})
        return
    if not standings:
        say("No budgets are configured. Add budgets to the configuration: see interlock config init.")
        return
    _print(standings)


def _print(standings: list[BudgetStanding]) -> None:
    from rich.text import Text

    from ..journal import NOTHING
    from ..redact import one_line
    from .console import new_table

    columns = ("BUDGET", "PERIOD", "USED", "RESERVED", "LIMIT", "AT LIMIT", "FORECAST")
    table = new_table(*columns, wrap=("FORECAST",))
    for each in standings:
        used = f"{each.shown(each.used)} ({each.share:.0%})" if each.period else "-"
        reserved = each.shown(each.reserved) if each.reserved != NOTHING else "-"
        period = each.period if each.per == "run" and each.period else f"{each.per} {each.period}".strip()
        style = "red" if each.share >= 1 else "yellow" if each.reached_at or each.fits_nothing else ""
        cells = (one_line(each.name), period, used, reserved, each.limit, each.on_limit)
        table.add_row(*cells, Text(each.forecast, style=style))
    print_table(table_console(), table)
