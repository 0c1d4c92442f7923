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
        say(f"settings and keys are in {profile / 'User'}; open the editor's window now")
        return
    tell_checks(list(examine(display)), json=json)
