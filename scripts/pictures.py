"""Makes the pictures of the documentation anew: what the terminal shows, as SVG."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from interlock.demo import play
from interlock.demo.stage import Stage

IMAGES = Path(__file__).parents[1] / "docs" / "images"


def draw_demo(columns: int, only: range | None = None) -> str:
    """The demonstration at a width; only some scenes where a picture of all would be too long."""
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    stage = Stage(console)
    if only is None:
        stage.open()
    shown = only is None
    for event in play(fast=True):
        if event.kind == "scene" and only is not None:
            shown = event.body["number"] in only
        if shown or (event.kind == "end" and only is None):
            stage.show(event)
    svg = console.export_svg(title="interlock demo")
    # The font is the reader's own: nothing is fetched from elsewhere.
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


def main() -> None:
    """Write the pictures."""
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "demo.svg").write_text(draw_demo(110, range(3, 5)))
    (IMAGES / "demo-80.svg").write_text(draw_demo(80))
    (IMAGES / "demo-160.svg").write_text(draw_demo(160))


if __name__ == "__main__":
    main()
