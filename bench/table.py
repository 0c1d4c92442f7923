"""How results are shown: as a table on the terminal and in Markdown."""

from __future__ import annotations


def as_markdown(title: str, header: list[str], rows: list[list[str]], notes: str = "") -> str:
    """A section with one table."""
    lines = [f"## {title}", ""]
    if notes:
        lines += [notes, ""]
    lines += ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def print_table(title: str, header: list[str], rows: list[list[str]], notes: str = "") -> None:
    """The same for a person."""
    print(as_markdown(title, header, rows, notes))
