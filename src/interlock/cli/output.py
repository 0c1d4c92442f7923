"""Output of all commands: text or JSON on stdout, one clear line on stderr for errors."""

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
"""Wider than any terminal: in a pipe nothing is cut."""

ROOMY = 120
"""Columns from which tables show everything."""


def table_console() -> Console:
    """A console for tables: as wide as the terminal, unlimited in a pipe."""
    from .console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDE
    return console


def rendered(console: Console, table: RenderableType) -> str:
    """A table as text, without trailing spaces."""
    with console.capture() as shown:
        console.print(table)
    return "".join(f"{line.rstrip(' ')}\n" for line in shown.get().splitlines())


def print_table(console: Console, table: RenderableType) -> None:
    """Print a table on stdout."""
    sys.stdout.write(rendered(console, table))
    sys.stdout.flush()


def print_hanging(console: Console, text: str) -> None:
    """Print lines; long ones are wrapped with an indent on a terminal, and not wrapped in a pipe."""
    import textwrap

    for line in text.splitlines():
        deeper = " " * (len(line) - len(line.lstrip()) + 2)
        fitting = (
            textwrap.wrap(line, console.width, subsequent_indent=deeper, break_long_words=False, break_on_hyphens=False)
            if console.is_terminal
            else [line]
        )
        console.out("\n".join(fitting), highlight=False)


ENDING_STYLES = {
    "proven": "green", "done": "", "unproven": "yellow", "refused": "yellow", "limit": "yellow", "cancelled": "yellow",
    "contradicted": "red", "broken": "red", "stopped": "red", "failed": "red",
}  # fmt: skip
"""The colours of endings: only a proven run is green."""


def ending_style(ending: str) -> str:
    """The colour of an ending; yellow if it is not known."""
    return ENDING_STYLES.get(ending, "yellow")


def many(number: int, noun: str) -> str:
    """A count with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def money(spent: float, budget: float | None, unpriced_tokens: int = 0) -> str:
    """Dollars spent and the budget; with a plus if some tokens have no price."""
    known = "unknown" if unpriced_tokens and not spent else f"${spent:,.2f}" + ("+" if unpriced_tokens else "")
    return known + (f"/{budget:,.2f}" if budget is not None else "")


def spent(cost: float, budget: float | None, unpriced_tokens: int) -> str:
    """The same within a sentence."""
    shown = money(cost, budget, unpriced_tokens)
    return shown if shown.startswith("$") else f"cost {shown}"


def say(line: object = "", *, nl: bool = True) -> None:
    """Print text on stdout."""
    import typer

    typer.echo(printable(str(line)), nl=nl)


def print_json(value: object) -> None:
    """Print one JSON document on one line of stdout."""
    sys.stdout.write(json_text(value) + "\n")
    sys.stdout.flush()


def json_text(value: object) -> str:
    """A JSON document without control characters."""
    text = msgspec.json.encode(value).decode()
    return text if text.isascii() and "\x7f" not in text else text.translate(ESCAPED)


def say_error(line: str, who: str = "interlock") -> None:
    """Print one line on stderr, unless that is closed."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"{who}: {printable(' '.join(line.split()))}\n")
        sys.stderr.flush()


def check_text(what: str, words: str) -> None:
    """Reject what is not UTF-8: a journal cannot store it."""
    try:
        words.encode()
    except UnicodeEncodeError:
        raise BadInput(f"the {what} is not UTF-8", where=ascii(words), todo="Give it as UTF-8 text.") from None
