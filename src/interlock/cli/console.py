"""Console: rich's, with control characters from outside escaped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import rich.console
from rich.segment import Segment

from ..core import printable


class Console(rich.console.Console):
    """Prints no control characters except rich's own styles."""

    def render(self, renderable: Any, options: rich.console.ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))

    def out(self, *objects: Any, **how: Any) -> None:
        super().out(*(printable(str(each)) for each in objects), **how)
