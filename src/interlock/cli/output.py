"""Output of every command: JSON on stdout for machines, one clear line on stderr for errors."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

import msgspec

from ..core import ESCAPED, BadInput, printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from .console import Console

WIDE = 1000
"""More columns than any terminal has: in a pipe nothing is cut."""

ROOMY = 120
"""Columns from which a table shows everything."""


def table_console() -> Console:
    """Where tables go: as wide as the terminal, or as wide as they want to be."""
    from .console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDE
    return console


def rendered(console: Console, table: RenderableType) -> str:
    """A table as text, without the spaces that fill its last column."""
    with console.capture() as shown:
        console.print(table)
    return "".join(f"{line.rstrip(' ')}\n" for line in shown.get().splitlines())


def print_table(console: Console, table: RenderableType) -> None:
    """A table on stdout."""
    sys.stdout.write(rendered(console, table))
    sys.stdout.flush()


def print_hanging(console: Console, text: str) -> None:
    """Lines for people: long ones are wrapped with an indent on a terminal, and left alone in a pipe."""
    import textwrap

    for line in text.splitlines():
        deeper = " " * (len(line) - len(line.lstrip()) + 2)
        fitting = (
            textwrap.wrap(line, console.width, subsequent_indent=deeper, break_long_words=False, break_on_hyphens=False)
            if console.is_terminal
            else [line]
        )
        console.out("\n".join(fitting), highlight=False)


def many(number: int, noun: str) -> str:
    """A count with its word."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def money(spent: float, budget: float | None, unpriced_tokens: int = 0) -> str:
    """Dollars, and of how many; at least so many where some tokens have no price."""
    known = "unknown" if unpriced_tokens and not spent else f"${spent:,.2f}" + ("+" if unpriced_tokens else "")
    return known + (f"/{budget:,.2f}" if budget is not None else "")


def spent(cost: float, budget: float | None, unpriced_tokens: int) -> str:
    """The same within a sentence."""
    shown = money(cost, budget, unpriced_tokens)
    return shown if shown.startswith("$") else f"cost {shown}"


def say(line: object = "", *, nl: bool = True) -> None:
    """Text on stdout."""
    import typer

    typer.echo(printable(str(line)), nl=nl)


def print_json(value: object) -> None:
    """One JSON document on one line of stdout."""
    sys.stdout.write(json_text(value) + "\n")
    sys.stdout.flush()


def json_text(value: object) -> str:
    """A JSON document that steers no terminal."""
    text = msgspec.json.encode(value).decode()
    return text if text.isascii() and "\x7f" not in text else text.translate(ESCAPED)


def say_error(line: str, who: str = "interlock") -> None:
    """One line on stderr; nothing if that is closed too."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"{who}: {printable(' '.join(line.split()))}\n")
        sys.stderr.flush()


def check_text(what: str, words: str) -> None:
    """Say in one line that bytes which are not text cannot be kept in a journal."""
    try:
        words.encode()
    except UnicodeEncodeError:
        raise BadInput(f"the {what} is not UTF-8", where=ascii(words), todo="Give it as UTF-8 text.") from None
