"""The text output of review."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from ..core import Review
from .console import Console

LOOKS = {
    "allow": ("✓", "green"),
    "warn": ("!", "yellow"),
    "modify": ("~", "magenta"),
    "block": ("✗", "bold white on red"),
}
"""The sign and style of each verdict: distinct without colours, too."""

MAX_SHOWN = 400
"""Characters of the command that are shown."""

NO_SAFE_FORM = "nothing: no safe form is known, so it is blocked"


def print_review(command: str, review: Review) -> None:
    """Print verdict, rule, reason and alternative."""
    console = Console(highlight=False)
    text = command if len(command) <= MAX_SHOWN else f"{command[:MAX_SHOWN]} ..."
    sign, style = LOOKS[review.verdict]
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
