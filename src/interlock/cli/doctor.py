"""interlock doctor: what works on this machine and how to fix the rest; and printing of checks."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer
from msgspec import Struct
from typer import Option

from ..core import InterlockError, find_program, install_command
from .app import new_app
from .output import print_json

if TYPE_CHECKING:
    from ..gui import GuiCheck

app = new_app()

State = Literal["ok", "missing", "broken"]


class DoctorCheck(Struct, frozen=True):
    """One check."""

    what: str
    state: State
    found: str
    todo: str = ""


@app.command()
def doctor(json: Annotated[bool, Option("--json", help='{"checks": [...]}')] = False) -> None:
    """Check configuration, store, process control and extras. Exit status 4 if something is broken.

    Example: interlock doctor
    """
    tell_checks(list(examine()), json=json)


def examine() -> Iterator[DoctorCheck]:
    """All checks."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield DoctorCheck("Python", "ok" if sys.version_info >= (3, 11) else "broken", version)
    yield from _configuration()
    yield _sqlite()
    yield from _processes()
    yield _containment()
    yield _hooks()
    git = find_program("git")
    words = git.path if git is not None else "not installed; only for diffs of nested repositories"
    yield DoctorCheck("git", "ok" if git is not None else "missing", words)
    for module, extra, purpose in EXTRAS:
        yield _extra(module, extra, purpose)


EXTRAS = (
    ("nats", "hub", "runs on several machines"),
    ("apprise", "notify", "notifications"),
    ("anthropic", "model", "a model as second opinion"),
    ("mss", "gui", "GUI sessions"),
    ("opentelemetry.sdk", "otel", "OpenTelemetry"),
)


ABILITIES = {
    "freeze": "freeze processes",
    "end": "end processes",
    "memory": "limit memory",
    "processes": "limit processes",
    "cpu": "limit CPU",
}


def _configuration() -> Iterator[DoctorCheck]:
    from ..config import load
    from ..journal import open_store

    try:
        config = load()
    except InterlockError as error:
        yield DoctorCheck("configuration", "broken", str(error))
        return
    yield DoctorCheck("configuration", "ok", "valid")
    root = open_store(config).root
    folder = root
    while not folder.exists():
        folder = folder.parent
    if os.access(folder, os.W_OK):
        free = shutil.disk_usage(folder).free / 1024**3
        yield DoctorCheck("store", "ok", f"{root}, {free:.0f} GiB free")
    else:
        yield DoctorCheck("store", "broken", f"{root} cannot be written", "Set store.dir")
    if config.notifications.channels:
        from ..runtime import find_alert_problem

        problem = find_alert_problem(config.notifications.channels)
        state: State = "broken" if problem else "ok"
        yield DoctorCheck("alerts", state, problem or f"through {', '.join(config.notifications.channels)}; not tried")


def _sqlite() -> DoctorCheck:
    import apsw

    version = apsw.sqlite_lib_version()
    numbers = tuple(int(part) for part in version.split(".")[:3])
    safe = numbers >= (3, 51, 3)
    return DoctorCheck("SQLite", "ok" if safe else "broken", version, "" if safe else "Install apsw 3.51.3 or newer")


def _processes() -> Iterator[DoctorCheck]:
    from ..process import abilities

    for ability in abilities():
        yield DoctorCheck(ABILITIES[ability.name], "missing" if ability.by == "nobody" else "ok", ability.why)


def _containment() -> DoctorCheck:
    from ..contain import why_not

    missing = why_not()
    if missing:
        found, _, todo = missing.partition(". ")
        return DoctorCheck("containment", "missing", f"guard does not work here: {found}", f"{todo}." if todo else "")
    fence = why_not(fenced=True)
    more = f"fence does not: {fence}" if fence else "fence works too (--contain fence)"
    return DoctorCheck("containment", "ok", f"guard works here, and is the default of interlock run; {more}")


def _hooks() -> DoctorCheck:
    from ..adapters.hooks import compile_client

    compiled = compile_client()
    if compiled is not None:
        return DoctorCheck("hook client", "ok", f"compiled, {compiled}")
    found = "not compiled; Python does the same, more slowly"
    return DoctorCheck("hook client", "missing", found, "Install a C compiler (Debian's gcc).")


def _extra(module: str, extra: str, purpose: str) -> DoctorCheck:
    from importlib.util import find_spec

    try:
        found = find_spec(module) is not None
    except ModuleNotFoundError:
        found = False  # The package that the module belongs to is missing, too.
    name = f"interlock[{extra}]"
    if found:
        return DoctorCheck(name, "ok", purpose)
    return DoctorCheck(name, "missing", f"for {purpose}", f"Run: {install_command(extra)}")


MARKS = {"ok": ("✓", "green"), "missing": ("-", "yellow"), "broken": ("✗", "red")}


def tell_checks(checks: Sequence[DoctorCheck | GuiCheck], *, json: bool) -> NoReturn:
    """Print checks, and exit with 4 if something is broken."""
    if json:
        print_json({"checks": checks})
    else:
        _print_table(checks)
    raise typer.Exit(4 if any(check.state == "broken" for check in checks) else 0)


def _print_table(checks: Sequence[DoctorCheck | GuiCheck]) -> None:
    from rich.table import Column, Table
    from rich.text import Text

    from .console import Console

    table = Table("", "", Column(overflow="fold"), box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for check in checks:
        mark, style = MARKS[check.state]
        words = f"{check.found}. {check.todo}" if check.todo else check.found
        table.add_row(Text(mark, style=style), Text(check.what), Text(words))
    Console(highlight=False).print(table)
