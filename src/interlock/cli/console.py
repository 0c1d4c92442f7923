"""Console: rich's, with control characters from outside escaped; and the tables of all commands."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Literal

import rich.console
from rich.segment import Segment
from rich.table import Table

from ..core import printable


def new_table(
    *columns: str, right: Collection[str] = (), wrap: Collection[str] = (), fold: Collection[str] = ()
) -> Table:
    """A table without borders; `right` are columns to align, `wrap` and `fold` those that may take several lines."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for name in columns:
        side: Literal["left", "right"] = "right" if name in right else "left"
        overflow: Literal["fold", "ellipsis"] = "fold" if name in fold else "ellipsis"
        table.add_column(name, justify=side, overflow=overflow, no_wrap=name not in (*wrap, *fold))
    return table


class Console(rich.console.Console):
    """Prints no control characters except rich's own styles."""

    def render(self, renderable: Any, options: rich.console.ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))

    def out(self, *objects: Any, **how: Any) -> None:
        super().out(*(printable(str(each)) for each in objects), **how)
