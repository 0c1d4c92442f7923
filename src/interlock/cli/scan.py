"""interlock scan: where recorded traces went wrong, and how Interlock would have responded."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import typer
from typer import Argument, Option

from ..core import BadInput, usable_cores, write_output
from .app import new_app
from .output import json_text, say_error

if TYPE_CHECKING:
    from ..adapters.traces import ParallelScanner, TraceScanner
    from ..config import Config
    from ..report.page import ScanPage
    from ..runtime import Plugins

app = new_app()

Sensitivity = Literal["low", "medium", "high"]

WORTH_BYTES = 512 * 1024
"""Smaller traces are scanned faster than further processes start."""

MOST_ERRORS = 3
"""Bad lines that are reported per file; the rest is counted."""


@app.command()
def scan(
    files: Annotated[list[str], Argument(help="Trace files (.jsonl, also gzip); - is standard input.")],
    json: Annotated[bool, Option("--json", help="One JSON line per trace.")] = False,
    config: Annotated[str | None, Option(help="A configuration file.")] = None,
    sensitivity: Annotated[str | None, Option(help="low, medium or high.")] = None,
    html: Annotated[str | None, Option(metavar="FILE", help="Write all findings to an HTML page.")] = None,
    notes: Annotated[bool, Option("--notes", help="Show notes too: what rests on words alone.")] = False,
    jobs: Annotated[
        int | None, Option(min=1, metavar="N", help="Processes, each for one file at a time; default: one per core.")
    ] = None,
) -> None:
    """Find where recorded traces went wrong, and how Interlock would have responded.

    Reads whole traces, step lines and Claude Code transcripts.
    Exit status: 0 nothing found, 1 something found, 2 bad input.

    Example: interlock scan traces/*.jsonl.gz
    """
    # Modules stay, steps come and go without cycles: collecting every 700 objects costs a tenth of a scan.
    gc.set_threshold(100_000, 20, 100)
    from msgspec.structs import replace

    from ..adapters.traces import LineError
    from ..runtime import Plugins, read_mutes

    if not json:
        from .scan_table import Progress, print_scanned, print_total
    picture = _new_page(html)
    scanner = _scanner(files, jobs, _configuration(config, sensitivity), Plugins(muted=read_mutes(Path.cwd())))
    found = bad = traces = unsaid = 0
    said: Counter[str] = Counter()
    with nullcontext() if json else Progress(files) as progress:
        for name, result in scanner.scan(files):
            if isinstance(result, LineError | BadInput):
                bad += 1
                at_line = isinstance(result, LineError)
                said[name] += at_line
                words = f"{name}:{result.line}: {result.what}" if isinstance(result, LineError) else str(result)
                if picture is not None:
                    picture.refuse(words)
                if not at_line or said[name] <= MOST_ERRORS:
                    say_error(f"{words}. {result.todo}" if at_line else words)
                continue
            traces += 1
            result = result if notes else replace(result, notes=())
            if picture is not None:
                picture.add(name, result)
            found += result.went_wrong
            unsaid += bool(result.ending)
            if progress is None:
                sys.stdout.write(json_text(result) + "\n")
            else:
                print_scanned(result, progress)
                progress.advance(name, scanner.steps)
    for name, count in said.items():
        if count > MOST_ERRORS:
            say_error(f"{name}: {count - MOST_ERRORS} more lines like these were omitted")
    if not json and (traces or not bad):
        print_total(traces, scanner.steps, found, unsaid)
    if picture is not None and html is not None:
        write_output(Path(html), picture.render())
    raise typer.Exit(2 if bad else 1 if found else 0)


def _configuration(path: str | None, sensitivity: str | None) -> Config:
    """The configuration with the command line's sensitivity."""
    from msgspec.structs import replace

    from ..config import load

    config = load(Path(path) if path is not None else None)
    if sensitivity is None:
        return config
    if sensitivity not in get_args(Sensitivity):
        raise BadInput(f"there is no sensitivity {sensitivity!r}", todo="Known: low, medium, high")
    return replace(config, detect=replace(config.detect, sensitivity=cast(Sensitivity, sensitivity)))


def _scanner(files: list[str], jobs: int | None, config: Config, plugins: Plugins) -> TraceScanner | ParallelScanner:
    """A scanner; one that uses all cores if that is worth starting processes."""
    from ..adapters.traces import TraceScanner

    if jobs is None:
        size = sum(Path(name).stat().st_size for name in files if name != "-" and Path(name).is_file())
        jobs = usable_cores() if size >= WORTH_BYTES else 1
    jobs = min(jobs, len(files))
    if jobs == 1 or "-" in files:
        scanner = TraceScanner(config, plugins)
        gc.freeze()
        return scanner
    from ..adapters.traces import ParallelScanner

    return ParallelScanner(jobs, lambda: TraceScanner(config, plugins))


def _new_page(html: str | None) -> ScanPage | None:
    """The page to write, if any; fails before the long work if it cannot be written."""
    if html is None:
        return None
    from ..report.page import ScanPage

    if not Path(html).parent.is_dir() or Path(html).is_dir():
        raise BadInput(f"{html} cannot be written", todo="Choose a file in an existing folder.")
    return ScanPage()
