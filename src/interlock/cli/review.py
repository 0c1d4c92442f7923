"""interlock review: reviews shell commands."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from typer import Argument, Option

from ..calls import CallReading, read_script
from ..core import BadInput, Review, from_json
from .app import new_app
from .output import print_json, say_error

if TYPE_CHECKING:
    from ..review import CommandReviewer

app = new_app()

MAX_LINE = 32 * 1024 * 1024
"""A longer line is refused, so that memory stays bounded."""

EXAMPLE = '{"command": "ls"}'

MARKS = {
    "allow": ("✓", "green"),
    "warn": ("!", "yellow"),
    "modify": ("~", "magenta"),
    "block": ("✗", "bold white on red"),
}
"""The sign and style of each verdict: distinct without colours, too."""

MAX_SHOWN = 400
"""Characters of the command that are shown."""

NO_SAFE_FORM = "nothing: no safe form is known, so it is blocked"


class ReviewInput(msgspec.Struct, frozen=True):
    """One line of input."""

    command: str
    cwd: str | None = None


class ReviewOutput(msgspec.Struct, frozen=True):
    """One line of output."""

    command: str
    verdict: str
    risk: float
    rules: tuple[str, ...]
    reason: str
    instead: str
    reading: CallReading | msgspec.UnsetType | None = msgspec.UNSET


@app.command(context_settings={"ignore_unknown_options": True})
def review(
    command: Annotated[
        list[str], Argument(help="A command, preferably in quotes or after --; - reads JSON lines from standard input.")
    ],
    json: Annotated[bool, Option("--json", help="One JSON document.")] = False,
    explain: Annotated[
        bool, Option("--explain", help="Show how the command is read: programs, effects, checks, what is not read.")
    ] = False,
    cwd: Annotated[
        str | None, Option(help="Where it would run; default: the workspace, or the current folder.")
    ] = None,
    workspace: Annotated[str | None, Option(help="The workspace.")] = None,
    rules: Annotated[str | None, Option(help="Your own rules: a YAML file or a folder.")] = None,
    config: Annotated[str | None, Option(help="A configuration file.")] = None,
) -> None:
    """Show the verdict on a shell command, and why.

    The options below belong to interlock wherever they appear; everything after -- belongs to the command.
    Lines on standard input are {"command": "...", "cwd": "..."}, cwd is optional; each line gets one line in reply.
    Exit status: 0 nothing blocked, 1 something blocked, 2 bad input.

    Example: interlock review 'git push --force'
    """
    from ..config import load
    from ..review import CommandReviewer

    if workspace is not None:
        workspace = str(Path(workspace).expanduser().absolute())
    judge = CommandReviewer(load(Path(config) if config is not None else None).review, rules_path=rules)
    if command == ["-"]:
        blocked, bad = answer_lines(judge, cwd, workspace)
        raise typer.Exit(2 if bad else 1 if blocked else 0)
    text = command[0] if len(command) == 1 else shlex.join(command)
    check(text)
    found = judge.review(text, cwd=cwd or workspace or str(Path.cwd()), workspace=workspace)
    if json:
        print_json(
            msgspec.structs.replace(as_answer(text, found), reading=reading_of(text) if explain else msgspec.UNSET)
        )
    else:
        print_review(shown(text), found)
        if explain:
            print_reading(reading_of(text))
    raise typer.Exit(1 if found.verdict == "block" else 0)


def answer_lines(judge: CommandReviewer, cwd: str | None, workspace: str | None) -> tuple[int, int]:
    """Review standard input line by line; returns how many were blocked and how many were bad."""
    blocked = bad = lines = 0
    for number, line in enumerate(read_lines(), 1):
        if line.isspace():
            continue
        lines += 1
        try:
            request = read_request(line)
            found = judge.review(request.command, cwd=request.cwd or cwd, workspace=workspace)
            blocked += found.verdict == "block"
            print_json(as_answer(request.command, found))
        except BadInput as error:
            bad += 1
            say_error(f"-:{number}: {error}")
    if not lines:
        say_error(f"-: the input is empty. Give lines such as {EXAMPLE}")
    return blocked, bad + (not lines)


def read_lines() -> Iterator[bytes]:
    """Lines of standard input as they arrive; only the beginning of one that is too long."""
    if sys.stdin is None:
        return
    source = sys.stdin.buffer
    while line := source.readline(MAX_LINE + 1):
        yield line
        while len(line) > MAX_LINE and not line.endswith(b"\n"):
            line = source.readline(MAX_LINE) or b"\n"


def read_request(line: bytes) -> ReviewInput:
    """Parse one line; BadInput says what is wrong with it."""
    if len(line) > MAX_LINE:
        raise BadInput("the line is longer than 32 MiB", todo="Give shorter commands.")
    try:
        request = from_json(line, ReviewInput)
    except msgspec.ValidationError as error:
        raise BadInput(f"not a request: {error}", todo=f"Give an object such as {EXAMPLE}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        what = "not UTF-8 text" if is_binary(line) else f"not JSON: {error}"
        raise BadInput(what, todo=f"Use one JSON object per line, such as {EXAMPLE}.") from None
    check(request.command)
    return request


def is_binary(line: bytes) -> bool:
    try:
        return "\0" in line.decode()
    except UnicodeDecodeError:
        return True


def check(command: str) -> None:
    """Reject an empty command and what is not UTF-8."""
    if not command.strip():
        raise BadInput("the command is empty", todo=f"Give a command, or - and lines such as {EXAMPLE}.")
    try:
        command.encode()
    except UnicodeEncodeError:
        raise BadInput("the command is not UTF-8", todo="Give it as UTF-8 text.") from None


def as_answer(command: str, found: Review) -> ReviewOutput:
    return ReviewOutput(shown(command), found.verdict, found.risk, found.rules, found.reason, found.instead)


def shown(command: str) -> str:
    """A command without its secrets; everything printed of the input passes through this."""
    from ..redact import redact_text

    return redact_text(command)


def reading_of(command: str) -> CallReading:
    """How a command is read, without its secrets, relative to where it would run."""
    return read_script(shown(command))


def print_reading(reading: CallReading) -> None:
    """Print what a command runs and does, line by line."""
    from rich.table import Table
    from rich.text import Text

    from .console import Console

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, lines in explained(reading):
        for line in lines or ["none"]:
            table.add_row(name, Text(line))
            name = ""
    Console(highlight=False).print(table)


def explained(reading: CallReading) -> Iterator[tuple[str, list[str]]]:
    """The parts of a reading, in words."""
    yield (
        "runs",
        [
            f"{' '.join(program.words)}{f'  (through {chr(44).join(program.via)})' if program.via else ''}"
            for program in reading.programs
        ],
    )
    yield (
        "effects",
        [
            f"{effect.verb} {effect.target}  ({effect.zone}{'' if effect.extent == 'one' else f', {effect.extent}'})"
            for effect in reading.effects
        ],
    )
    if reading.checks:
        hidden = "; its exit status is hidden"
        yield "checks", [f"{check.kind} by {check.runner}{'' if check.decides else hidden}" for check in reading.checks]
    if reading.waits:
        yield "waits", [f"{wait.how}{f' {wait.seconds:g} s' if wait.seconds else ''}" for wait in reading.waits]
    if reading.inline:
        yield "not read", [f"code in {inline.language}" for inline in reading.inline]
    if reading.unread:
        yield "not read", [f"what follows the error: {reading.unread}"]
    if reading.concealed:
        yield "concealed", [reading.concealed]


def print_review(command: str, review: Review) -> None:
    """Print verdict, rule, reason and alternative."""
    from rich.table import Table
    from rich.text import Text

    from .console import Console

    console = Console(highlight=False)
    text = command if len(command) <= MAX_SHOWN else f"{command[:MAX_SHOWN]} ..."
    sign, style = MARKS[review.verdict]
    console.print(Text.assemble((f"{sign} {review.verdict}", style), "  ", text))
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    rewritten = review.rewrite.get("command") if review.rewrite else None
    for name, value in (
        ("rule", ", ".join(review.rules)),
        ("why", review.reason),
        ("instead", review.instead),
        ("runs as", str(rewritten) if rewritten else NO_SAFE_FORM if review.verdict == "modify" else ""),
        ("risk", f"{review.risk:.2f}"),
    ):
        if value:
            table.add_row(name, Text(value))
    console.print(table)
