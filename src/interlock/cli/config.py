"""interlock config: write, show and check the configuration."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from ..core import BadInput, printable
from .app import new_app
from .output import print_json, say_error

app = new_app("Write, show, check and trust the configuration.\n\nExample: interlock config init")

FILE = "interlock.yaml"

NO_FILE = "No configuration file: the defaults apply."


@app.command()
def init(
    path: Annotated[Path, Argument(help="The file to write.")] = Path(FILE),
    force: Annotated[bool, Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a file with every key, its default and what it means.

    Example: interlock config init
    """
    from ..config import config_template

    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(config_template())
    except FileExistsError:
        raise BadInput("already exists", where=str(path), todo="Use --force to overwrite.") from None
    except OSError as error:
        raise BadInput(f"cannot be written ({error.strerror})", where=str(path)) from None
    sys.stdout.write(f"Wrote {path}. Check it after every change with: interlock config check {path}\n")


@app.command()
def show(
    config: Annotated[Path | None, Option(help="Read this file.")] = None,
    as_json: Annotated[bool, Option("--json", help="One JSON document.")] = False,
) -> None:
    """Show the configuration in effect, and where each non-default value comes from.

    Example: interlock config show --json
    """
    from ..config import examine, render, settings, visible

    examined = examine(config)
    for problem in examined.errors:
        raise problem.error()
    if as_json:
        changed = [setting for setting in settings(examined) if setting.changed]
        sources = {setting.path: setting.source for setting in changed}
        print_json({"file": examined.file, "config": visible(examined.config), "sources": sources})
        return
    if examined.ignored:
        say_error(examined.ignored_line)
    sys.stdout.write(f"# {examined.file or NO_FILE}\n{printable(render(examined))}")


@app.command()
def trust(
    path: Annotated[Path, Argument(help="The workspace's file.")] = Path(FILE),
    yes: Annotated[bool, Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Accept what a workspace's configuration loosens, until the file changes.

    A workspace's interlock.yaml may tighten supervision freely. What loosens it applies only once you have accepted it.

    Example: interlock config trust
    """
    from ..config import Config, is_trusted, read_values, split, user_file
    from ..config import trust as agree
    from ..contain import refuse_inside
    from ..core import BadInput, from_plain

    refuse_inside("trust a configuration")
    values = read_values(path)
    base = from_plain(read_values(user_file()), Config) if user_file().is_file() else Config()
    loosened = split(values, base)[1]
    if is_trusted(path, values):
        sys.stdout.write(f"{path} is already trusted.\n")
        return
    if loosened:
        sys.stdout.write(f"{path} loosens supervision: {', '.join(loosened)}\n")
        if not yes and not (sys.stdin.isatty() and typer.confirm("Trust it?")):
            raise BadInput("not trusted", where=str(path), todo="Answer y, or use --yes.")
    agree(path, values)
    sys.stdout.write(f"{path} is trusted until it changes.\n")


@app.command()
def check(
    path: Annotated[Path | None, Argument(help="The file; default: what is in effect.")] = None,
    as_json: Annotated[bool, Option("--json", help="One JSON document.")] = False,
) -> None:
    """List every error in a configuration. Exit status: 0 valid, 2 invalid.

    Example: interlock config check interlock.yaml
    """
    from ..config import examine

    examined = examine(path, env={} if path else None)
    if as_json:
        print_json({"file": examined.file, "ok": not examined.errors, "problems": examined.problems})
    else:
        for problem in examined.problems:
            say_error(f"warning: {problem}" if problem.level == "warning" else str(problem))
        if not examined.errors:
            sys.stdout.write(f"{examined.file} is valid.\n" if examined.file else f"{NO_FILE}\n")
    if examined.errors:
        raise SystemExit(2)
