"""Opens an editor for a session: our own, one at a URL, or the one on the display; Ctrl-C ends it cleanly."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ..core import InvalidState
from .accessibility import Accessibility
from .assembly import Screen
from .editor.editor_session import EditorSession
from .editor.vscode import VSCodeController
from .input import create_input_backend
from .windows import DisplayGone, WindowSystem

SIZE = (1600, 900)
"""Of the display that we start: enough for an editor, and a quarter fewer pixels than full HD."""


@contextmanager
def open_editor(
    workspace: Path,
    folder: Path,
    *,
    url: str | None = None,
    start: bool = False,
    say: Callable[[str], None] = lambda line: None,
) -> Iterator[Screen]:
    """The screen with an editor that shows the workspace. `folder` holds the state of what we start, for clean-up."""
    if not start and url is None:
        with attached(workspace) as screen:
            yield screen
        return
    with only_one(folder):
        for part in ("editor", "browser"):
            # Unsaved changes of a killed editor must not come back.
            shutil.rmtree(folder / part, ignore_errors=True)
        editor = EditorSession(folder, workspace, SIZE, say, url)
        try:
            yield screen_of(editor)
        finally:
            editor.close()


@contextmanager
def attached(workspace: Path) -> Iterator[Screen]:
    """An editor that someone opened on the current display."""
    with open_display(None, workspace) as screen:
        if screen.controller is None or screen.controller.window() is None:
            raise InvalidState(
                "no editor window has a title that shows its state",
                where=f"display {screen.display or ''}".strip(),
                todo="Use --start-editor, or open VS Code with the settings of interlock gui doctor --profile DIR.",
            )
        yield screen


@contextmanager
def open_display(display: str | None, workspace: Path | None = None) -> Iterator[Screen]:
    """Everything that can be reached of a display."""
    name = display or os.environ.get("DISPLAY")
    if not name and os.environ.get("WAYLAND_DISPLAY"):
        yield Screen(display=None)
        return
    if not name:
        raise DisplayGone(
            "there is no display",
            todo="Set DISPLAY, or name one with --display; interlock gui replay --start-editor starts its own.",
        )
    with closing(WindowSystem(name)) as windows:
        keyboard = create_input_backend("auto", name)
        accessibility = Accessibility() if os.environ.get("DBUS_SESSION_BUS_ADDRESS") else None
        try:
            controller = VSCodeController(keyboard, windows, workspace or Path.cwd(), accessibility)
            yield Screen(
                display=name, windows=windows, keyboard=keyboard, controller=controller, accessibility=accessibility
            )
        finally:
            keyboard.close()
            if accessibility is not None:
                accessibility.close()


def screen_of(editor: EditorSession) -> Screen:
    """The parts of an editor session that screen monitoring uses."""
    return Screen(
        display=editor.display.name,
        windows=editor.windows,
        keyboard=editor.keyboard,
        controller=editor.controller,
        accessibility=editor.accessibility,
        server_responds=editor.server.answers,
    )


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Allow one session at a time in a folder: a second one would end the first one's programs."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InvalidState("this session is already being replayed", where=str(folder)) from None
        yield


INTERRUPTED = "interrupted"


@contextmanager
def interrupted(stop: Callable[[str], object]) -> Iterator[None]:
    """Ctrl-C and SIGTERM end the session cleanly: its programs end, what was typed is kept."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: object) -> None:
        stop(INTERRUPTED)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
