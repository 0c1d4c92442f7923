"""interlock demo: one supervised run that goes wrong in several ways and recovers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

from typer import Option

from .app import new_app
from .output import print_json

if TYPE_CHECKING:
    from ..demo import Narrator
    from ..journal import Store
    from .console import Console

app = new_app()


@app.command()
def demo(
    json: Annotated[bool, Option("--json", help="The events, one JSON line each.")] = False,
    keep: Annotated[bool, Option("--keep", help="Keep the run, to look at with top, web and report.")] = False,
    slow: Annotated[bool, Option("--slow", help="Twice as much time to read.")] = False,
    fast: Annotated[bool, Option("--fast", help="Without pauses for reading.")] = False,
) -> None:
    """Watch a scripted agent go wrong, and what Interlock does about it. Takes under a minute; leaves nothing behind.

    Example: interlock demo --keep
    """
    from ..demo import play
    from .runs import the_store

    store = the_store() if keep else None
    if json:
        for event in play(keep=store):
            print_json(event)
        return
    from ..demo import LEAST_COLUMNS, LEAST_ROWS, print_totals
    from .console import Console

    console = Console(highlight=False)
    factor = 0.0 if fast or not console.is_terminal else 2 * NORMAL if slow else NORMAL
    split = factor and console.width >= LEAST_COLUMNS and console.height >= LEAST_ROWS
    narrator = (_split if split else _lines)(console, store, DemoPace(factor))
    print_totals(console, narrator, kept=keep)


class DemoPace:
    """Paces the demo for readers; work that is done meanwhile counts as reading time."""

    def __init__(self, factor: float) -> None:
        self._factor, self._due = factor, time.monotonic()

    def hold(self, seconds: float) -> None:
        """Wait until the last output has been visible for this long; less if we are late."""
        wanted = seconds * self._factor
        self._due += wanted
        time.sleep(max(self._due - time.monotonic(), wanted * LEAST))


def _split(console: Console, store: Store | None, pace: DemoPace) -> Narrator:
    """Agent and Interlock side by side."""
    from rich.live import Live

    from ..demo import SplitScreen, play

    screen = SplitScreen()
    with Live(screen, console=console, screen=True, auto_refresh=False) as live:
        for event in play(keep=store):
            entries = screen.begin(event)
            while screen.count_files():
                live.refresh()
                pace.hold(FILE_S)
            if event.kind == "scene":
                live.refresh()
                pace.hold(SCENE_S)
            for entry in entries:
                screen.add(entry)
                live.refresh()
                pace.hold(entry.hold_s)
        pace.hold(SCENE_S)
    return screen.narrator


def _lines(console: Console, store: Store | None, pace: DemoPace) -> Narrator:
    """One line after the other."""
    from ..demo import Lines, play

    lines = Lines(console)
    for event in play(keep=store):
        pace.hold(lines.show(event))
    return lines.narrator


NORMAL = 0.85
"""The factor on reading times with which the demo takes less than a minute."""
SCENE_S = 1.3
"""Time to read what a scene is about."""
FILE_S = 0.06
"""Time for a file to disappear or come back."""
LEAST = 0.2
"""The share of its time for which everything is shown, even when we are late."""
