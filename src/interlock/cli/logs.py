"""interlock logs: what a run's command printed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..core import BadInput
from .app import new_app
from .completion import offer_runs
from .output import json_text, say_error

if TYPE_CHECKING:
    from ..journal import RunFolder
    from ..output import Latest, OutputReader, Printed

app = new_app()

POLL_S = 0.2
"""How often we poll for more."""


@app.command()
def logs(
    run: Annotated[str, Argument(help="A run's id, name or unique prefix.", autocompletion=offer_runs)],
    follow: Annotated[bool, Option("--follow", "-f", help="Follow until the run ends.")] = False,
    since: Annotated[str | None, Option(metavar="TIME", help="Only since then: 10m, 14:30, 2026-11-17T14:30.")] = None,
    step: Annotated[int | None, Option(metavar="N", min=0, help="Only during this step.")] = None,
    json: Annotated[bool, Option("--json", help='One line per piece: {"time", "stream", "text"}.')] = False,
) -> None:
    """Show what a run's command printed: stdout and stderr, or what it drew on its terminal.

    Secrets are redacted, and control characters never reach your terminal.

    Example: interlock logs my-run -f
    """
    from ..journal import JournalReader
    from ..output import OutputReader, parse_since, step_window
    from .runs import the_store

    folder = the_store().find(run)
    begins, ends = parse_since(since) if since is not None else 0.0, float("inf")
    if step is not None:
        if follow:
            raise BadInput("--step and --follow cannot be combined")
        with JournalReader.open(folder) as journal:
            first, ends = step_window(journal, step)
            begins = max(begins, first)
    reader = OutputReader(folder.output)
    show = _show_json if json else _show_text
    for piece in _pieces(reader, folder, begins, follow):
        if piece.time < ends:
            show(piece)
    if step is None:
        _show_latest(reader.latest(), begins, json)
    sys.stdout.flush()
    if not folder.output.exists():
        say_error(f"no output of {run} was kept: it printed nothing, or Interlock did not start it")


def _pieces(reader: OutputReader, folder: RunFolder, since: float, follow: bool) -> Iterator[Printed]:
    while True:
        over = not follow or _is_over(folder)
        yield from reader.read(since)
        if over:
            return
        sys.stdout.flush()
        time.sleep(POLL_S)


def _is_over(folder: RunFolder) -> bool:
    from ..core import ENDED
    from ..journal import summarize

    summary = summarize(folder)
    return summary is None or summary.status in ENDED or summary.owner_pid is None


def _show_text(piece: Printed) -> None:
    from ..output import GAP, readable

    if piece.stream == GAP:
        size = f"{int(piece.data):,} bytes" if piece.data else "output"
        sys.stdout.write(f"[... {size} left out ...]\n")
    else:
        sys.stdout.write(readable(piece.text))


def _show_json(piece: Printed) -> None:
    body = {"time": piece.time, "stream": piece.stream, "text": piece.text}
    sys.stdout.write(json_text(body) + "\n")


def _show_latest(latest: Latest, since: float, json: bool) -> None:
    """Print what is not complete yet: the unfinished line, or the current screen."""
    from ..output import SCREEN, Printed

    text = "\n".join(latest.screen) or latest.line
    if text and latest.time >= since:
        show = _show_json if json else _show_text
        show(Printed(latest.time, SCREEN, f"{text}\n".encode()))
