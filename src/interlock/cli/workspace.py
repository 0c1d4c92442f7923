"""Shared by the checkpoint commands: finding and opening the workspace, asking for confirmation."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..checkpoint import Checkpoints, known_workspace, resolved
from ..core import BadInput, NotFound, SystemClock, printable

Progress = Callable[[int, int], None]


def resolve_workspace(run: str | None) -> Path:
    """The workspace of a run; without a run the nearest known workspace from here upwards, else this folder."""
    if run is None:
        here = current_folder()
        return known_workspace(here) or resolved(here)
    from .runs import the_store

    workspace = the_store().find(run).spec().workspace
    if workspace is None:
        raise NotFound(f"run {run!r} has no workspace", todo="Specify a run that has a workspace")
    return resolved(Path(workspace))


def current_folder() -> Path:
    """The current folder, even if an agent has deleted it: the shell still knows its name."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        named = os.environ.get("PWD", "")
        if not Path(named).is_absolute():
            raise
        return Path(named)


def resolve_run(run: str | None) -> str | None:
    """The id of a run that was named by id, name or unique prefix."""
    if run is None:
        return None
    from .runs import the_store

    return the_store().find(run).run_id


@contextmanager
def open_checkpoints(run: str | None = None) -> Iterator[Checkpoints]:
    """The checkpoints of a workspace; an operation that a crash interrupted is finished first, and reported."""
    from ..config import load

    config = load().checkpoints
    with Checkpoints.open(resolve_workspace(run), config=config, clock=SystemClock()) as found:
        for line in found.recovered:
            sys.stderr.write(f"interlock: {printable(line)}\n")
        yield found


def relative_paths(paths: list[str], workspace: Path) -> list[str]:
    """Paths as typed here, relative to the workspace; BadInput for one outside."""
    here = os.path.realpath(current_folder())
    found = []
    for path in paths:
        if not path:
            # As from an unset variable: it must not stand for the whole workspace.
            raise BadInput("a path is empty", todo="Specify a file or a folder; . is the current one")
        inside = os.path.relpath(os.path.normpath(Path(here, path)), workspace)
        if inside == ".." or inside.startswith("../"):
            raise BadInput(f"{path!r} is outside the workspace {workspace}", todo="Use paths inside it")
        found.append("" if inside == "." else inside)
    return found


def confirm(question: str, *, yes: bool, json: bool) -> None:
    """Continue only if the user agrees; BadInput without a terminal, exit on no."""
    import typer

    if yes:
        return
    if json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadInput(
            "this changes files, and there is no terminal to confirm it", todo="Add --yes, or preview with --dry-run"
        )
    if not typer.confirm(question):
        raise SystemExit(0)


@contextmanager
def progress_bar(what: str) -> Iterator[Progress | None]:
    """A progress bar on a terminal's stderr."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress as Bars

    from .console import Console

    with Bars(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(what, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)
