"""interlock gui doctor: what a GUI session needs, proven."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .checks import tell_checks
from .output import say


def doctor(
    display: Annotated[
        str | None,
        typer.Option("--display", metavar=":N", help="Default: from the environment, or a new one."),
    ] = None,
    profile: Annotated[
        Path | None,
        typer.Option("--profile", metavar="FOLDER", help="Only write the editor's settings to its user-data folder."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help='{"checks": [{"what", "state", "found", "todo"}]}')] = False,
) -> None:
    """Check display, window manager, accessibility, title, capture and typing. Exit status 4 if something is broken.

    Example: interlock gui doctor
    """
    from ..gui import examine

    if profile is not None:
        from ..gui.editor import write_profile

        write_profile(profile)
        say(f"settings and keys are in {profile / 'User'}; open the editor's window now")
        return
    tell_checks(list(examine(display)), json=json)
