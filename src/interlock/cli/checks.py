"""How checks are printed: a line each, or JSON, and an exit status that says whether something is broken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn, Protocol

import typer

from .output import print_json

MARKS = {"ok": ("✓", "green"), "missing": ("-", "yellow"), "broken": ("✗", "red")}


class Checked(Protocol):
    """One thing that was looked at."""

    @property
    def what(self) -> str: ...

    @property
    def state(self) -> str: ...

    @property
    def found(self) -> str: ...

    @property
    def todo(self) -> str: ...


def tell_checks(checks: Sequence[Checked], *, json: bool) -> NoReturn:
    """Say them, and exit with 4 if something is broken."""
    if json:
        print_json({"checks": checks})
    else:
        _print_table(checks)
    raise typer.Exit(4 if any(check.state == "broken" for check in checks) else 0)


def _print_table(checks: Sequence[Checked]) -> None:
    from rich.table import Table
    from rich.text import Text

    from .console import Console

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for check in checks:
        mark, style = MARKS[check.state]
        words = f"{check.found}. {check.todo}" if check.todo else check.found
        table.add_row(Text(mark, style=style), Text(check.what), Text(words))
    Console(highlight=False).print(table)
