"""interlock gui replay: a scripted session typed into an editor, monitored, recovered, verified."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from typer import Argument, Option

from ..core import InterlockError, write_output
from .output import print_json, say_error

if TYPE_CHECKING:
    from ..config import Config
    from ..gui import Replayed
    from ..journal_records import InterventionEvent


def replay(
    session: Annotated[Path, Argument(help="The session, a JSON file.")],
    workspace: Annotated[Path, Option(help="The folder to type into.")],
    editor: Annotated[str | None, Option(metavar="URL", help="A running code-server.")] = None,
    start_editor: Annotated[
        bool, Option("--start-editor", help="Start a display and an editor for this replay.")
    ] = False,
    resume: Annotated[bool, Option("--resume", help="Continue where an interrupted replay stopped.")] = False,
    verify: Annotated[bool, Option("--verify/--no-verify", help="Compare the files at the end.")] = True,
    repair: Annotated[bool, Option("--repair", help="Type what differs again, and verify again.")] = False,
    record: Annotated[Path | None, Option(metavar="FOLDER", help="Keep a screenshot of every chunk and check.")] = None,
    report: Annotated[
        Path | None, Option(metavar="FILE", help="The HTML report; default: in the run's folder.")
    ] = None,
    config: Annotated[Path | None, Option(help="A configuration file.")] = None,
    json: Annotated[bool, Option("--json", help='{"run_id", "success", "verification", ...}')] = False,
) -> None:
    """Replay a session in an editor; by default the one on this display.

    Exit status: 0 all typed and right, 1 typed but something differs, 4 not typed to the end, 130 cancelled.

    Example: interlock gui replay demo.json --workspace ./demo --start-editor
    """
    from ..config import load
    from ..gui import ReplayOptions, replay_session

    options = ReplayOptions(
        url=editor,
        start_editor=start_editor,
        resume=resume,
        verify=None if verify else False,
        repair=repair,
        record=record,
    )
    settings = load(config)
    with _progress(quiet=json) as shown:
        done = replay_session(
            session, workspace, settings, options, say=shown.say, on_progress=shown.advance, on_event=shown.event
        )
    page = write_report(Path(done.folder), settings, report)
    if json:
        print_json(_plain(done, page))
    else:
        _print(done, page)
    raise typer.Exit(done.exit_status)


class ReplayProgress(NamedTuple):
    """Callbacks for the progress of a replay."""

    say: Callable[[str], None] = lambda line: None
    advance: Callable[[int, int, str], None] = lambda done, total, path: None
    event: Callable[[InterventionEvent], None] = lambda event: None


@contextmanager
def _progress(*, quiet: bool) -> Iterator[ReplayProgress]:
    """A progress bar on a terminal's stderr, plain lines elsewhere; events as they happen."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from .console import Console
    from .gui_text import print_event

    console = Console(stderr=True, highlight=False, soft_wrap=True)

    def event(news: InterventionEvent) -> None:
        if news.outcome != "none":
            print_event(console, news)

    if quiet:
        yield ReplayProgress()
        return
    if not sys.stderr.isatty():
        yield ReplayProgress(console.print, _lines(console.print), event)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("Starting", total=None)
        yield ReplayProgress(
            lambda line: bars.update(task, description=line),
            lambda done, total, path: bars.update(task, description=path, completed=done, total=total),
            event,
        )


def _lines(say: Callable[[str], None]) -> Callable[[int, int, str], None]:
    """A line for every file and every tenth of the chunks, so that a log shows progress."""
    last: list[tuple[str, int]] = []

    def advance(done: int, total: int, path: str) -> None:
        now = (path, done * 10 // max(total, 1))
        if last != [now]:
            last[:] = [now]
            say(f"{done} of {total} chunks, {path}")

    return advance


def _plain(done: Replayed, page: Path | None) -> dict[str, object]:
    result = done.result
    return {
        "run_id": done.run_id,
        "session_id": done.session_id,
        "completed": result.completed,
        "success": result.success,
        "reason": result.reason,
        "chunks": result.chunks,
        "chunks_done": result.chunks_done,
        "seconds": round(result.seconds, 3),
        "repaired": result.repaired,
        "troubles": list(result.troubles),
        "events": list(done.events),
        "verification": result.verification,
        "cost_usd": done.cost_usd,
        "folder": done.folder,
        "report": str(page) if page is not None else None,
    }


def _print(done: Replayed, page: Path | None) -> None:
    from rich.text import Text

    from .console import Console
    from .gui_text import print_event, print_verification

    console = Console(highlight=False, soft_wrap=True)
    result = done.result
    for event in done.events:
        if event.outcome != "none":
            print_event(console, event)
    words = f"{result.chunks_done} of {result.chunks} chunks in {result.seconds:.1f} s"
    said = "typed" if result.completed else f"stopped: {result.reason}"
    console.print(Text.assemble((f"{done.session_id}: {said}", "green" if result.completed else "red"), f", {words}"))
    if result.verification is not None:
        print_verification(console, result.verification)
    console.print(Text(f"more: interlock show {done.run_id}", style="dim"))
    if page is not None:
        console.print(Text(f"report: {page}", style="dim"))
    if not result.completed:
        console.print(Text("to continue: the same command with --resume", style="dim"))


def write_report(run_folder: Path, config: Config, target: Path | None) -> Path | None:
    """Write the run's report, by default into its own folder; None and a line on stderr if it fails."""
    from ..journal import RunFolder
    from ..report import Story, gather, read_changes, render

    page = target or run_folder / "report.html"
    album = config.gui.screenshot_dir
    albums = (Path(album).expanduser(),) if album else ()
    try:
        with Story.open(RunFolder(run_folder)) as story:
            changes = read_changes(story.checkpoints, story.spec.workspace, config)
            write_output(page, render(gather(story, changes, albums=albums), "html"))
    except (InterlockError, OSError) as error:
        say_error(f"the report could not be written ({error})")
        return None
    return page
