"""Faults: what goes wrong in a real editor, done to it on purpose."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import structlog

from ...core import InvalidState
from ..desktop.accessibility import NoAccessibility
from ..desktop.debug_port import NoAnswer
from ..editor.desk import EditorDesk
from ..waiting import wait_until

CTRL = 2

log = structlog.get_logger("interlock.gui")

DIRTY_S = 5.0
"""How long to wait for unsaved text; some faults need it."""

LEAVE = """setTimeout(() => {
  const ask = event => { event.preventDefault(); event.returnValue = 'x'; };
  window.addEventListener('beforeunload', ask, { once: true });
  setTimeout(() => window.removeEventListener('beforeunload', ask), 20000);
  location.reload();
}, 0)"""


def press(desk: EditorDesk, key: str, code: str, number: int, modifiers: int = 0) -> None:
    """Press a key inside the page: the session's own keys, pressed at the same moment, do not mix with it."""
    common: dict[str, object] = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers}
    desk.debug.call("Input.dispatchKeyEvent", {"type": "rawKeyDown", **common})
    desk.debug.call("Input.dispatchKeyEvent", {"type": "keyUp", **common})


def palette(desk: EditorDesk) -> None:
    press(desk, "F1", "F1", 112)


def quick_open(desk: EditorDesk) -> None:
    press(desk, "p", "KeyP", 80, CTRL)


def find_box(desk: EditorDesk) -> None:
    press(desk, "f", "KeyF", 70, CTRL)


def terminal(desk: EditorDesk) -> None:
    press(desk, "`", "Backquote", 192, CTRL)


def unsaved_dialog(desk: EditorDesk) -> None:
    """Close the file while it has unsaved text."""
    _wait_for_unsaved(desk)
    press(desk, "w", "KeyW", 87, CTRL)


def wrong_file(desk: EditorDesk) -> None:
    """Click another file, as somebody at the mouse would."""
    state = desk.controller.state()
    current = Path(state.file).name if state else ""
    for name, place in _files(desk).items():
        if name != current:
            desk.keyboard.mouse_move_click(*place)
            return
    raise InvalidState("there is no other file to open")


def save_conflict(desk: EditorDesk) -> None:
    """Change the open file on disk while it has unsaved text, so that saving it fails with a notification."""
    _wait_for_unsaved(desk)
    state = desk.controller.state()
    if state is None or not state.file:
        raise InvalidState("no file is open")
    with Path(state.file).open("a") as file:
        file.write("changed by somebody else\n")


def native_dialog(desk: EditorDesk) -> None:
    """The browser's own "Reload app?": it blocks the page, and the title stays as it was."""
    desk.debug.evaluate(LEAVE)


def foreign_window(desk: EditorDesk) -> None:
    argv = ["zenity", "--question", "--title", "Authentication required", "--text", "Unlock keyring?"]
    nothing = subprocess.DEVNULL
    subprocess.Popen(argv, env=desk.display.environment, stdin=nothing, stdout=nothing, stderr=nothing)


def server_gone(desk: EditorDesk) -> None:
    desk.server.end()


FAULTS: dict[str, Callable[[EditorDesk], None]] = {
    "unsaved_dialog": unsaved_dialog,
    "wrong_file": wrong_file,
    "terminal": terminal,
    "foreign_window": foreign_window,
    "palette": palette,
    "quick_open": quick_open,
    "find_box": find_box,
    "save_conflict": save_conflict,
    "native_dialog": native_dialog,
    "server_gone": server_gone,
}


def inject(kind: str, desk: EditorDesk) -> bool:
    """Throw a fault in; False if the editor was in no state for it."""
    try:
        FAULTS[kind](desk)
    except (InvalidState, NoAnswer, NoAccessibility) as error:
        log.warning("a fault could not be thrown in", kind=kind, error=str(error))
        return False
    return True


def _wait_for_unsaved(desk: EditorDesk) -> None:
    def unsaved() -> bool:
        state = desk.controller.state()
        return state is not None and state.dirty

    if not wait_until(unsaved, DIRTY_S, every_s=0.005):
        raise InvalidState("nothing is unsaved")


def _files(desk: EditorDesk) -> dict[str, tuple[int, int]]:
    """The files that the explorer shows, with where to click."""
    found = desk.debug.evaluate(
        "[...document.querySelectorAll('.explorer-folders-view .monaco-list-row')].map(e => {"
        " const r = e.getBoundingClientRect();"
        " return [e.getAttribute('aria-label') || e.innerText, r.left + r.width / 2, r.top + r.height / 2,"
        " e.querySelector('.folder-icon') !== null]; })"
    )
    origin = desk.debug.evaluate("[window.screenX + (window.outerWidth - window.innerWidth) / 2, "
                                 "window.screenY + window.outerHeight - window.innerHeight]")  # fmt: skip
    files = {}
    for name, x, y, is_folder in found or []:
        if not is_folder and "." in name:
            files[str(name).split(",")[0].strip()] = (round(x + origin[0]), round(y + origin[1]))
    return files
