"""How install and uninstall show what they change, ask, and do it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from ..core import BadInput
from .output import print_json

if TYPE_CHECKING:
    from ..adapters.hooks.installing import Change


def carry_out(changes: tuple[Change, ...], *, yes: bool, as_json: bool, nothing: str) -> None:
    """Show the changes as a diff, ask, make them, and say where the backups are."""
    needed = [change for change in changes if change.is_needed]
    if not as_json:
        for change in needed:
            sys.stdout.write(change.diff())
        sys.stdout.flush()
    if needed and not yes:
        if not sys.stdin.isatty():
            raise BadInput("nobody is there to agree to the change", todo="Look at the diff, then add --yes.")
        typer.confirm("Make this change?", abort=True, err=True)
    made = [(change.path, change.make()) for change in needed]
    if as_json:
        print_json({"changed": [{"path": str(path), "backup": str(b) if b else None} for path, b in made]})
        return
    for path, backup in made:
        sys.stdout.write(f"changed {path}" + (f" (before: {backup})\n" if backup else "\n"))
    if not made:
        sys.stdout.write(f"{nothing}\n")
