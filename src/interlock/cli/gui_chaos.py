"""interlock gui chaos: real faults in a real editor, and what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .output import print_json

if TYPE_CHECKING:
    from ..gui.chaos import ChaosReport, FaultReport


def chaos(
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="The same seed, the same faults.")] = 1,
    faults: Annotated[int, typer.Option("--faults", min=0, metavar="N", help="Number of faults.")] = 10,
    kinds: Annotated[
        list[str] | None, typer.Option("--kind", metavar="KIND", help="Only this kind; may be repeated.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One fault per line; the last line is the total.")] = False,
) -> None:
    """Inject faults into a real editor during typing, and count which are detected and recovered.

    Starts its own display and editor. Exit status 0 when it ran to the end, whatever it counted.

    Example: interlock gui chaos --seed 1 --faults 10
    """
    from ..gui.chaos import run_chaos
    from .console import Console

    console = Console(stderr=True, highlight=False, soft_wrap=True)

    def say(line: str) -> None:
        if not json:
            console.print(line)

    def show(report: FaultReport) -> None:
        if json:
            print_json(report)
        else:
            say(report.says())

    report = run_chaos(seed, faults, kinds=kinds or None, say=say, on_fault=show)
    if json:
        print_json(report.summary())
    else:
        _print(report)


def _print(report: ChaosReport) -> None:
    from rich.table import Table

    from .console import Console

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("FAULT", no_wrap=True)
    for column in ("THROWN", "DETECTED", "RECOVERED", "MEDIAN DETECT", "MEDIAN RECOVER"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in report.rows():
        table.add_row(*row)
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    for alarm in report.alarms:
        console.print(f"false alarm: {alarm}", markup=False, style="red")
    console.print(
        f"{report.detected} of {report.faults} detected, {report.recovered} recovered, "
        f"{report.false_alarms} false alarms in {report.looks} checks of undisturbed typing, "
        f"files {'exact' if report.exact else 'NOT exact'} in {report.sessions} sessions"
    )
