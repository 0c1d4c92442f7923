"""How results are shown: as a table on the terminal and in Markdown."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def as_markdown(title: str, header: list[str], rows: list[list[str]], notes: str = "") -> str:
    """A section with one table."""
    lines = [f"## {title}", ""] if title else []
    if notes:
        lines += [notes, ""]
    lines += ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def print_table(title: str, header: list[str], rows: list[list[str]], notes: str = "") -> None:
    """The same for a person."""
    print(as_markdown(title, header, rows, notes))


def print_measured(
    measure: Callable[[bool], tuple[str, list[str], list[list[str]]]], about: str | None, notes: str
) -> None:
    """Measure as the command line asks, and print it."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--quick", action="store_true")
    print_table(*measure(parser.parse_args().quick), notes)
