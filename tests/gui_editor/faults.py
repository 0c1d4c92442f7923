"""Faults: what goes wrong in a real editor, injected on purpose; and a log of the verdicts meanwhile."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from pathlib import Path

import structlog
from msgspec import Struct

from interlock.core import Clock, InterlockError
from interlock.gui.analyzer.evidence import AnalysisResult
from interlock.gui.analyzer.layers import PROBE
from interlock.gui.analyzer.local import LocalAnalyzer
from interlock.gui.debug_port import Blocked, NoPage
from interlock.gui.editor.editor_session import CodeServer, EditorSession
from interlock.gui.screenshot.screenshot import Screenshot
from interlock.gui.windows import DisplayGone

CTRL = 2

log = structlog.get_logger("interlock.gui")

ACTIVE_TAB = "document.querySelector('.tab.active')?.getAttribute('data-resource-name')"

PLAIN_PAGE = "!!document.querySelector('.monaco-workbench') && !document.title.includes('dirty=')"
"""Whether the workbench is up without the title that our settings give it."""

PATIENCE_S = 10.0
"""How long a busy page may take to receive a fault."""

LEAVE = """setTimeout(() => {
  const ask = event => { event.preventDefault(); event.returnValue = 'x'; };
  window.addEventListener('beforeunload', ask, { once: true });
  setTimeout(() => window.removeEventListener('beforeunload', ask), 20000);
  location.reload();
}, 0)"""


class NotNow(InterlockError):
    """Raised when the editor is not in the right state for a fault."""


class InjectedFault(Struct, frozen=True):
    """A fault that `throw` injects; `is_due` tells whether the moment is right for it."""

    throw: Callable[[], object]
    is_due: Callable[[], bool] = lambda: True


def key(editor: EditorSession, name: str, code: str, number: int, modifiers: int = 0) -> InjectedFault:
    """A key pressed inside the page, so that it does not mix with the session's own keys."""
    common: dict[str, object] = {"key": name, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers}

    def press() -> None:
        editor.debug.call("Input.dispatchKeyEvent", {"type": "rawKeyDown", **common}, PATIENCE_S)
        editor.debug.call("Input.dispatchKeyEvent", {"type": "keyUp", **common}, PATIENCE_S)

    return InjectedFault(press)


def unsaved_dialog(editor: EditorSession) -> InjectedFault:
    """Close the file while it has unsaved text."""
    return InjectedFault(key(editor, "w", "KeyW", 87, CTRL).throw, lambda: _is_unsaved(editor))


def wrong_file(editor: EditorSession) -> InjectedFault:
    """Click another file, as someone at the mouse would."""
    positions = _files(editor)

    def click() -> None:
        state = editor.controller.state()
        current = Path(state.file).name if state else ""
        position = next((position for name, position in positions.items() if name != current), None)
        if position is None:
            raise NotNow("there is no other file to open")
        editor.keyboard.mouse_move_click(*position)

    return InjectedFault(click)


def save_conflict(editor: EditorSession) -> InjectedFault:
    """Change the open file on disk while it has unsaved text, so that saving it fails with a notification."""

    def change() -> None:
        state = editor.controller.state()
        if state is None or not state.file:
            raise NotNow("no file is open")
        with Path(state.file).open("a") as file:
            file.write("changed from outside\n")

    return InjectedFault(change, lambda: _is_unsaved(editor))


def native_dialog(editor: EditorSession) -> InjectedFault:
    """The browser's own "Reload app?": it blocks the page, and the title stays as it was."""
    return InjectedFault(lambda: editor.debug.evaluate(LEAVE, PATIENCE_S))


def foreign_window(editor: EditorSession) -> InjectedFault:
    argv = ("zenity", "--question", "--title", "Authentication required", "--text", "Unlock keyring?")
    return InjectedFault(lambda: editor.programs.start("zenity", argv, editor.display.environment))


def settings_lost(editor: EditorSession) -> InjectedFault:
    """Load the page again with the editor's defaults: another title, other keys, brackets that close themselves."""

    def lose() -> None:
        if not isinstance(editor.server, CodeServer):
            raise NotNow("the editor belongs to someone else: its settings are left alone")
        editor.server.lose_settings()
        editor.debug.evaluate("setTimeout(() => location.reload(), 0)", PATIENCE_S)

    return InjectedFault(lose)


FAULTS: dict[str, Callable[[EditorSession], InjectedFault]] = {
    "unsaved_dialog": unsaved_dialog,
    "wrong_file": wrong_file,
    "terminal": lambda editor: key(editor, "`", "Backquote", 192, CTRL),
    "foreign_window": foreign_window,
    "palette": lambda editor: key(editor, "F1", "F1", 112),
    "quick_open": lambda editor: key(editor, "p", "KeyP", 80, CTRL),
    "find_box": lambda editor: key(editor, "f", "KeyF", 70, CTRL),
    "save_conflict": save_conflict,
    "native_dialog": native_dialog,
    "settings_lost": settings_lost,
    "server_gone": lambda editor: InjectedFault(editor.server.end),
}


def prepare(kind: str, editor: EditorSession) -> InjectedFault | None:
    """Get a fault ready; None if the editor is not in the right state."""
    try:
        return FAULTS[kind](editor)
    except (NotNow, NoPage) as error:
        log.warning("a fault could not be prepared", kind=kind, error=str(error))
        return None


def throw(kind: str, fault: InjectedFault) -> bool:
    """Inject a fault; False if the editor was not in the right state."""
    try:
        fault.throw()
    except Blocked:
        # It was sent; its effect may be what keeps the page from replying.
        return True
    except (NotNow, NoPage, DisplayGone) as error:
        log.warning("a fault could not be injected", kind=kind, error=str(error))
        return False
    return True


def is_there(kind: str, editor: EditorSession, expected_file: str) -> bool:
    """Whether a fault has taken effect according to the page itself, independent of what a monitor uses."""
    if kind == "server_gone":
        return not editor.server.answers()
    if kind == "foreign_window":
        return editor.windows.search("Authentication required") is not None
    try:
        if kind == "settings_lost":
            return bool(editor.debug.evaluate(PLAIN_PAGE))
        if kind == "wrong_file":
            return bool(editor.debug.evaluate(ACTIVE_TAB) not in (None, Path(expected_file).name))
        found = editor.debug.evaluate(PROBE)
    except Blocked:
        return kind == "native_dialog"
    except NoPage:
        return False
    if kind in ("palette", "quick_open", "find_box"):
        return bool(found.get("box"))
    if kind == "terminal":
        return bool(found.get("terminal"))
    if kind == "save_conflict":
        # Without a message nothing was asked: the change came before the text did.
        return bool(found.get("error"))
    return kind == "unsaved_dialog" and bool(found.get("dialog"))


def clean_up(kind: str, editor: EditorSession) -> None:
    """Remove what a fault has left and the session need not handle."""
    if kind == "foreign_window":
        editor.programs.end("zenity")
    elif kind == "settings_lost":
        editor.server.write_settings()


def _is_unsaved(editor: EditorSession) -> bool:
    state = editor.controller.state()
    return state is not None and state.dirty


def _files(editor: EditorSession) -> dict[str, tuple[int, int]]:
    """The files that the explorer shows, with where to click."""
    found = editor.debug.evaluate(
        "[...document.querySelectorAll('.explorer-folders-view .monaco-list-row')].map(e => {"
        " const r = e.getBoundingClientRect();"
        " return [e.getAttribute('aria-label') || e.innerText, r.left + r.width / 2, r.top + r.height / 2,"
        " e.querySelector('.folder-icon') !== null]; })",
        PATIENCE_S,
    )
    origin = editor.debug.evaluate(
        "[window.screenX + (window.outerWidth - window.innerWidth) / 2, "
        "window.screenY + window.outerHeight - window.innerHeight]",
        PATIENCE_S,
    )
    files = {}
    for name, x, y, is_folder in found or []:
        if not is_folder and "." in name:
            files[str(name).split(",")[0].strip()] = (round(x + origin[0]), round(y + origin[1]))
    return files


class LoggedVerdict(Struct, frozen=True):
    """One verdict; `began` and `time` are monotonic."""

    began: float
    time: float
    result: AnalysisResult

    @property
    def alarm(self) -> str:
        """The problem that it saw; empty if none."""
        return f"{self.result.status.value}: {self.result.description}" if self.result.is_problem else ""


class VerdictLog:
    """An analyzer that logs every verdict of another one."""

    def __init__(self, analyzer: LocalAnalyzer, clock: Clock) -> None:
        self._analyzer, self._clock = analyzer, clock
        self._lock = threading.Lock()
        self._verdicts: list[LoggedVerdict] = []

    def analyze(self, screenshot: Screenshot, context: object = None) -> AnalysisResult:
        began = self._clock.monotonic()
        result = self._analyzer.analyze(screenshot, context)
        with self._lock:
            self._verdicts.append(LoggedVerdict(began, self._clock.monotonic(), result))
        return result

    def settle(self, capture: Callable[[], Screenshot | None], context: object, give_up: Callable[[], bool]) -> bool:
        return self._analyzer.settle(capture, context, give_up)

    def tried(self, result: AnalysisResult, helped: bool) -> None:
        self._analyzer.tried(result, helped)

    def between(self, start: float, end: float = math.inf) -> list[LoggedVerdict]:
        """The checks that lie entirely between two moments."""
        with self._lock:
            return [verdict for verdict in self._verdicts if verdict.began >= start and verdict.time <= end]

    def ended_since(self, moment: float) -> list[LoggedVerdict]:
        """The checks whose verdict came after a moment."""
        with self._lock:
            return [verdict for verdict in self._verdicts if verdict.time > moment]
