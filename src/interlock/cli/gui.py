"""interlock gui: replay, watch, verify, analyze, doctor."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..core import BadInput, MissingExtra
from .app import finite, new_app
from .doctor import tell_checks
from .gui_replay import replay
from .output import print_json, say, say_error

if TYPE_CHECKING:
    from ..gui.analyzer import AnalysisResult


def doctor(
    display: Annotated[str | None, Option(metavar=":N", help="Default: from the environment, or a new one.")] = None,
    profile: Annotated[
        Path | None, Option(metavar="FOLDER", help="Only write the editor's settings to its user-data folder.")
    ] = None,
    json: Annotated[bool, Option("--json", help='{"checks": [{"what", "state", "found", "todo"}]}')] = False,
) -> None:
    """Check display, window manager, accessibility, title, capture and typing. Exit status 4 if something is broken.

    Example: interlock gui doctor
    """
    from ..gui import examine

    if profile is not None:
        from ..gui.editor import write_profile

        write_profile(profile)
        say(f"settings and keys are in {profile / 'User'}; open the editor's window now")
        return
    tell_checks(list(examine(display)), json=json)


def verify(
    session: Annotated[Path, Argument(help="The session, a JSON file.")],
    workspace: Annotated[Path, Option(help="The folder of the replay.")],
    strict: Annotated[
        bool | None,
        Option(
            "--strict/--no-strict", help="Require equality apart from line endings; default: from the configuration."
        ),
    ] = None,
    config: Annotated[Path | None, Option(help="A configuration file.")] = None,
    json: Annotated[bool, Option("--json", help='{"success", "summary", "comparisons": [...]}')] = False,
) -> None:
    """Compare a workspace with the expected result of a session: exit status 0 if it matches, 1 if it differs.

    The original files come from the records of the replay; without them, files start empty.

    Example: interlock gui verify demo.json --workspace . --strict
    """
    from ..config import load
    from ..gui import FileVerifier, read_session
    from ..gui.replay import SessionStore

    settings = load(config).gui.verification
    script = read_session(session)
    if not workspace.is_dir():
        raise BadInput("the workspace is not a folder", where=str(workspace))
    verifier = FileVerifier(
        workspace,
        settings.similarity_threshold,
        partial=settings.partial_threshold,
        strict=settings.strict if strict is None else strict,
        originals=SessionStore(workspace, script.session_id).originals(),
    )
    result = verifier.verify_session(script)
    if json:
        print_json(result)
    else:
        from .console import Console
        from .gui_text import print_verification

        print_verification(Console(highlight=False, soft_wrap=True), result)
    raise typer.Exit(0 if result.success else 1)


def watch(
    display: Annotated[str | None, Option(metavar=":N", help="The X display; default: the environment's.")] = None,
    window: Annotated[str | None, Option(metavar="ID", help="Capture this window only.")] = None,
    interval: Annotated[
        float | None, Option(min=0.05, callback=finite, metavar="SECONDS", help="Seconds between two checks.")
    ] = None,
    looks: Annotated[int | None, Option(min=1, metavar="N", help="End after this many checks.")] = None,
    observe: Annotated[bool, Option("--observe", help="Watch, never act.")] = False,
    editor: Annotated[
        bool | None,
        Option("--editor/--no-editor", help="Whether an editor must be in front; default: if there is one."),
    ] = None,
    name: Annotated[str, Option(help="A name for lists and control commands.")] = "watch",
    config: Annotated[Path | None, Option(help="A configuration file.")] = None,
    json: Annotated[bool, Option("--json", help="One event per line.")] = False,
) -> None:
    """Check a display regularly and recover from problems, until Ctrl-C or cancel.

    Example: interlock gui watch --display :1 --interval 5
    """
    from ..config import load
    from ..gui import WatchOptions, watch_display
    from .console import Console
    from .gui_text import print_event

    console = Console(highlight=False, soft_wrap=True)
    options = WatchOptions(
        display=display, window=window, interval_s=interval, checks=looks, observe=observe, editor=editor, name=name
    )
    watch_display(load(config), options, print_json if json else functools.partial(print_event, console))


def analyze(
    images: Annotated[list[Path], Argument(help="Screenshots.", metavar="IMAGE...")],
    expect: Annotated[str | None, Option(help="The file that should be open.")] = None,
    config: Annotated[Path | None, Option(help="A configuration file.")] = None,
    json: Annotated[bool, Option("--json", help='{"images": [{"image", "status", "confidence", ...}]}')] = False,
) -> None:
    """Classify screenshots by their pixels: normal, dialog, wrong_file, error, terminal, unknown.

    Example: interlock gui analyze screen.png --json
    """
    from ..config import load
    from ..gui import judge_picture, read_picture

    settings = load(config).gui
    judged: list[tuple[Path, AnalysisResult]] = []
    bad = 0
    for path in images:
        try:
            judged.append((path, judge_picture(read_picture(path), settings, expect)))
        except BadInput as error:
            bad += 1
            say_error(str(error))
    if json:
        print_json({"images": [_plain(path, result) for path, result in judged]})
    elif judged:
        _print_table(judged)
    raise typer.Exit(2 if bad else 0)


def _plain(path: Path, result: AnalysisResult) -> dict[str, object]:
    import msgspec

    return {"image": str(path), "problem": result.is_problem, **msgspec.to_builtins(result)}


def _print_table(judged: list[tuple[Path, AnalysisResult]]) -> None:
    from rich.text import Text

    from .console import Console, new_table
    from .gui_text import STATUS

    table = new_table("IMAGE", "STATUS", "CONFIDENCE", "DESCRIPTION", "ACTIONS", wrap=("DESCRIPTION", "ACTIONS"))
    for path, result in judged:
        status = result.status.value
        table.add_row(
            path.name,
            Text(status, style=STATUS.get(status, "")),
            f"{result.confidence:.2f}",
            Text(result.description),
            Text("; ".join(result.recovery_actions)),
        )
    Console(highlight=False).print(table)


app = new_app(
    "GUI sessions: watch the screen, recover, verify.\n\n"
    "Example: interlock gui replay demo.json --workspace . --start-editor"
)
EXTRA = frozenset(("PIL", "Xlib", "cydifflib", "jeepney", "mss", "numpy", "websocket"))
"""What the extra `gui` installs."""


def with_extra(command: Callable[..., None]) -> Callable[..., None]:
    """A command that names the extra where one of its packages is missing."""

    @functools.wraps(command)
    def run(*args: object, **options: object) -> None:
        try:
            command(*args, **options)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in EXTRA:
                raise
            raise MissingExtra(f"GUI sessions need {error.name}, which is", "gui") from None

    return run


for command in (replay, watch, verify, analyze, doctor):
    app.command()(with_extra(command))
