"""interlock gui doctor: what a GUI session needs, proven."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .output import print_json

MARKS = {"ok": ("✓", "green"), "missing": ("-", "yellow"), "broken": ("✗", "red")}


def doctor(
    display: Annotated[
        str | None,
        typer.Option("--display", metavar=":N", help="Default: the environment's, else a new one."),
    ] = None,
    profile: Annotated[
        Path | None,
        typer.Option("--profile", metavar="DIR", help="Only write the editor's settings into its user-data folder."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help='{"checks": [{"what", "state", "found", "todo"}]}')] = False,
) -> None:
    """Prove display, window manager, accessibility, title, pictures and typing. Exit status 4 if something is broken.

    Example: interlock gui doctor
    """
    from ..gui.doctor import examine

    if profile is not None:
        from ..gui.editor.profile import write_profile

        write_profile(profile)
        typer.echo(f"settings and keys are in {profile / 'User'}; open the editor's window now")
        return
    checks = list(examine(display))
    broken = any(check.state == "broken" for check in checks)
    if json:
        print_json({"checks": checks})
        raise typer.Exit(4 if broken else 0)
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for check in checks:
        mark, style = MARKS[check.state]
        words = f"{check.found}. {check.todo}" if check.todo else check.found
        table.add_row(Text(mark, style=style), Text(check.what), Text(words))
    Console(highlight=False).print(table)
    raise typer.Exit(4 if broken else 0)
