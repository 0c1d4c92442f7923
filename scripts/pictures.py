"""Makes the pictures of the documentation anew: what the terminal shows, as SVG."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from rich.console import Console

from interlock.demo import DemoEvent, play
from interlock.demo.screens import SplitScreen, print_totals

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
SIZES = ((80, 24), (120, 40))

TOP = {
    "top": "test_all_runs[120x40]",
    "top-run": "test_a_run_that_was_stopped[120x40]",
}
"""Pictures of the terminal UI, and the tests that keep them true."""


def draw_demo(events: list[DemoEvent], columns: int, rows: int, until: str) -> str:
    """The demonstration's screen right after an event, or the sum at its end."""
    console = Console(
        record=True, width=columns, height=rows, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    screen = SplitScreen()
    for event in events:
        for entry in screen.begin(event):
            screen.add(entry)
        while screen.count_files():
            pass
        if event.kind == until:
            break
    if until == "end":
        print_totals(console, screen.narrator, kept=False)
    else:
        console.print(screen, height=rows)
    svg = console.export_svg(title="interlock demo")
    # The font is the reader's own: nothing is fetched from elsewhere.
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


def copy_top(target: Path) -> None:
    """Copy the pictures that the tests compare with."""
    kept = ROOT / "tests" / "tui" / "__snapshots__" / "test_pictures"
    for name, test in TOP.items():
        (target / f"{name}.svg").write_text((kept / f"{test}.svg").read_text())


def main() -> None:
    """Write those of the documentation, or all of them into a folder."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    copy_top(target)
    events = list(play())
    (target / "demo.svg").write_text(draw_demo(events, 120, 40, "restored"))
    if target != IMAGES:
        for columns, rows in SIZES:
            for moment in ("effect", "denied", "attacked", "restored", "stop_gate"):
                (target / f"demo-{moment}-{columns}.svg").write_text(draw_demo(events, columns, rows, moment))


if __name__ == "__main__":
    main()
