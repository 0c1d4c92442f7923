"""Makes the pictures of the documentation anew: what the terminal shows, as SVG."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from interlock.demo import play
from interlock.demo.display import Stage

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"


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


TOP = {
    "top": "test_all_runs[120x40]",
    "top-run": "test_a_run_that_was_stopped[120x40]",
    "top-run-80": "test_a_run_in_trouble[80x24]",
    "top-light": "test_the_light_theme",
}
"""Pictures of the terminal UI, and the tests that keep them true."""


def copy_top() -> None:
    """Take the pictures that the tests compare with."""
    kept = ROOT / "tests" / "tui" / "__snapshots__" / "test_pictures"
    for name, test in TOP.items():
        (IMAGES / f"{name}.svg").write_text((kept / f"{test}.svg").read_text())


def main() -> None:
    """Write the pictures."""
    IMAGES.mkdir(exist_ok=True)
    copy_top()
    (IMAGES / "demo.svg").write_text(draw_demo(110, range(3, 5)))
    (IMAGES / "demo-80.svg").write_text(draw_demo(80))
    (IMAGES / "demo-160.svg").write_text(draw_demo(160))


if __name__ == "__main__":
    main()
