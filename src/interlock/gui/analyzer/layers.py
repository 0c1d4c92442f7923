"""Layers of evidence about a screen: windows, accessibility, debugging port, server and growing files."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

from ...core import InterlockError
from ..accessibility import Accessibility, Dialog, NoAccessibility, Node
from ..debug_port import Blocked, DebugPort, NoPage
from ..editor.profile import TERMINAL, TEXT_EDITOR, TitleState, is_editors, parse_title
from ..screenshot.screenshot import Screenshot
from ..windows import Window, WindowSystem
from .evidence import Evidence, ReplayStatus, ScreenSituation, nothing, ok, problem

DIALOG, ERROR, IN_TERMINAL = ReplayStatus.DIALOG_BLOCKING, ReplayStatus.ERROR_STATE, ReplayStatus.TERMINAL_FOCUS
WRONG_FILE = ReplayStatus.WRONG_FILE

NOTIFICATION = "Clear Notification"
"""A button that only the editor's notifications have."""

QUIET_NOTIFICATION = re.compile(r"^Info(rmation)?:", re.IGNORECASE)

FIND_BOX = "find / replace"

RECONNECT = re.compile(r"reconnect|reload window", re.IGNORECASE)


class AccessibilityLayer:
    """Asks the accessibility bus.

    `is_behind` says whether a window with a title is behind the session's; `title` is the active window's.
    """

    name = "accessibility"

    def __init__(
        self,
        accessibility: Accessibility,
        is_behind: Callable[[str], bool] = lambda title: False,
        title: Callable[[], str] = lambda: "",
    ) -> None:
        self._accessibility, self._is_behind, self._title = accessibility, is_behind, title

    def inspect(self, screenshot: Screenshot | None, situation: ScreenSituation) -> Evidence:
        try:
            frames = self._accessibility.frames()
            if not frames:
                return nothing(self.name, "no program is accessible")
            dialogs, focused = self._accessibility.dialogs_and_focus(frames)
        except NoAccessibility as error:
            return nothing(self.name, error.what)
        found = [evidence for dialog in dialogs if (evidence := self._judge(dialog, focused))]
        if found:
            return max(found, key=lambda each: each.confidence)
        return self._focus(focused)

    def _judge(self, dialog: Dialog, focused: list[Node]) -> Evidence | None:
        """What a dialog means; None for one that does not disturb the session."""
        names = [button.name for button in dialog.buttons]
        words = f"{dialog.text[:120]!r} ({', '.join(names[:4])})"
        if any(name.startswith(NOTIFICATION) for name in names):
            if QUIET_NOTIFICATION.match(dialog.text):
                return None
            status = ERROR if dialog.text.startswith("Error") else DIALOG
            return problem(self.name, status, "notification", "error", 0.95, f"notification {words}")
        if dialog.text.casefold() == FIND_BOX:
            inside = any(node.role == "entry" and node.name in ("Find", "Replace") for node in focused)
            says = "the find box has keyboard focus"
            return problem(self.name, DIALOG, "input_box", "focus", 0.9, says) if inside else None
        if any(RECONNECT.search(name) for name in names):
            return problem(self.name, ERROR, "disconnected", "error", 0.97, f"the editor lost its server: {words}")
        if names == ["Reload"] and not dialog.text:
            return problem(self.name, ERROR, "crashed", "error", 0.95, "the editor's page has crashed")
        if any("Close Modal Editor" in name for name in names):
            return problem(self.name, DIALOG, "modal_editor", "dialog", 0.95, "another editor covers the session's")
        if not names or (dialog.is_window and self._is_behind(dialog.text)):
            return None
        return problem(self.name, DIALOG, "dialog", "dialog", 0.95, f"dialog {words}")

    def _focus(self, focused: list[Node]) -> Evidence:
        for node in focused:
            if node.role == "list item":
                says = f"a list has keyboard focus: {node.name[:60]!r}"
                return problem(self.name, DIALOG, "input_box", "focus", 0.9, says)
            if node.role == "entry" and node.name.startswith("Terminal"):
                return problem(self.name, IN_TERMINAL, "terminal", "focus", 0.9, "a terminal has keyboard focus")
            if node.role in ("entry", "text", "password text") and _is_box(node, self._title):
                says = f"an input box has keyboard focus: {node.name[:60]!r}"
                return problem(self.name, DIALOG, "input_box", "focus", 0.88, says)
        if any(node.role == "entry" for node in focused):
            return ok(self.name, "no dialog, keyboard focus is in an editor", 0.9, "dialog", "error", "focus")
        return ok(self.name, "no dialog", 0.8, "dialog", "error")


def _is_box(node: Node, title: Callable[[], str]) -> bool:
    """Whether it is an input box, not the text editor, which is labelled as inaccessible or named after its file."""
    if not node.name or "editor is not accessible" in node.name.casefold() or node.bounds is None:
        return False
    file = node.name.partition(", ")[0]
    return not re.search(rf"(?:^|[\s/\\●]){re.escape(file)}(?:\s|$)", title())


PROBE = """(() => {
  const shown = e => !!e && e.getClientRects().length > 0;
  const at = document.activeElement, inside = s => !!(at && at.closest(s));
  const one = s => [...document.querySelectorAll(s)].find(shown);
  const box = one('.monaco-dialog-box');
  const toast = one('.notifications-toasts .notification-list-item .codicon-error');
  return {
    dialog: box ? box.innerText.slice(0, 200) : '',
    modal: !!one('.modal-editor-part, .monaco-modal-editor-block'),
    error: toast ? toast.closest('.notification-list-item').innerText.slice(0, 200) : '',
    box: inside('.quick-input-widget') ? 'quick input' : inside('.find-widget') ? 'find box' : '',
    terminal: inside('.xterm, .terminal-wrapper'),
    editor: inside('.editor-instance, .editor-group-container .monaco-editor'),
  };
})()"""


class DebugPortLayer:
    """Asks the page; one that does not respond is blocked by a native dialog, or has crashed."""

    name = "debugging port"

    def __init__(self, port: DebugPort) -> None:
        self._port = port

    def inspect(self, screenshot: Screenshot | None, situation: ScreenSituation) -> Evidence:
        try:
            found = self._port.evaluate(PROBE)
        except Blocked:
            says = "the page does not respond: a native dialog blocks it, or it has crashed"
            return problem(self.name, DIALOG, "native_dialog", "dialog", 0.8, says)
        except NoPage as error:
            return nothing(self.name, str(error))
        return self._judge(found) if isinstance(found, dict) else nothing(self.name, "the page reports nothing")

    def _judge(self, found: dict[str, Any]) -> Evidence:
        if found.get("dialog"):
            return problem(self.name, DIALOG, "dialog", "dialog", 0.97, f"dialog {found['dialog']!r}")
        if found.get("error"):
            return problem(self.name, ERROR, "notification", "error", 0.95, f"notification {found['error']!r}")
        if found.get("modal"):
            return problem(self.name, DIALOG, "modal_editor", "dialog", 0.9, "another editor covers the session's")
        if found.get("box"):
            return problem(self.name, DIALOG, "input_box", "focus", 0.95, f"the {found['box']} has keyboard focus")
        if found.get("terminal"):
            return problem(self.name, IN_TERMINAL, "terminal", "focus", 0.95, "a terminal has keyboard focus")
        if found.get("editor"):
            return ok(self.name, "keyboard focus is in the text", 0.9, "dialog", "error", "focus")
        return ok(self.name, "no dialog", 0.7, "dialog", "error")


STALLED_S = 30.0
"""A chunk of typing reaches the disk in less than a second, in a few under heavy load."""


class ProgressLayer:
    """`last_progress` is when the last chunk reached the disk (monotonic seconds); None before the first."""

    name = "files"

    def __init__(self, last_progress: Callable[[], float | None]) -> None:
        self._last = last_progress

    def inspect(self, screenshot: Screenshot | None, situation: ScreenSituation) -> Evidence:
        last = self._last()
        if not situation.typing or last is None:
            return nothing(self.name, "nothing is being typed")
        age = time.monotonic() - last
        if age <= STALLED_S:
            return ok(self.name, f"text reached the disk {age:.1f} s ago", 0.5, "progress")
        says = f"text is being typed, but for {age:.0f} s none has reached the disk"
        return problem(self.name, ERROR, "stalled", "progress", 0.9, says)


SERVER_ASKED_S = 0.5
"""A server that has just responded is not asked again for this long: it has other work to do."""


class ServerLayer:
    """Asks whether the server responds."""

    name = "server"

    def __init__(self, answers: Callable[[], bool]) -> None:
        self._responds = answers
        self._responded_at: float | None = None

    def inspect(self, screenshot: Screenshot | None, situation: ScreenSituation) -> Evidence:
        if self._is_there():
            return ok(self.name, "the server responds", 0.3, "server")
        return problem(self.name, ERROR, "server_gone", "server", 0.95, "the editor's server does not respond")

    def _is_there(self) -> bool:
        now = time.monotonic()
        if self._responded_at is None or now - self._responded_at >= SERVER_ASKED_S:
            self._responded_at = now if self._responds() else None
        return self._responded_at is not None


class WindowLayer:
    """Asks the X server.

    `folder` is the workspace, for paths in titles; `title_shows_state` says that a title has shown the editor's state.
    """

    name = "window system"

    def __init__(self, windows: WindowSystem, folder: str | None = None, *, title_shows_state: bool = False) -> None:
        self._windows, self._folder, self._title_shows_state = windows, folder, title_shows_state

    def inspect(self, screenshot: Screenshot | None, situation: ScreenSituation) -> Evidence:
        try:
            active = self._windows.active()
            listed = self._windows.listed() if active is None else []
        except InterlockError as error:
            return nothing(self.name, str(error))
        if active is None:
            return self._without_active(listed)
        state = parse_title(active.title)
        if state is not None:
            self._title_shows_state = True
            return self._covering(active) or self._editor(state, situation)
        if is_editors(active.title):
            return self._without_settings(active) or self._plain_title(active.title, situation)
        return self._foreign(active)

    def _without_active(self, listed: list[Window]) -> Evidence:
        if any(parse_title(window.title) for window in listed):
            return nothing(self.name, "no window is active")
        return problem(self.name, ERROR, "window_gone", "window", 0.9, "the editor has no window")

    def _covering(self, editor: Window) -> Evidence | None:
        """A dialog of another program that covers the editor without having taken keyboard focus."""
        try:
            above = [each for each in self._windows.above(editor.id) if self._windows.is_dialog(each.id)]
        except InterlockError:
            return None
        if not above:
            return None
        says = f"another window covers the editor: {above[-1].title[:80]!r} ({above[-1].class_name})"
        return problem(self.name, DIALOG, "foreign_dialog", "window", 0.9, says)

    def _foreign(self, active: Window) -> Evidence:
        says = f"another window is in front: {active.title[:80]!r} ({active.class_name})"
        if "term" in active.class_name.lower():
            return problem(self.name, IN_TERMINAL, "foreign_terminal", "window", 0.95, says)
        return problem(self.name, DIALOG, "foreign_dialog", "window", 0.95, says)

    def _editor(self, state: TitleState, situation: ScreenSituation) -> Evidence:
        wrong = self._wrong_file(state.file, situation)
        if state.view == TERMINAL:
            return problem(self.name, IN_TERMINAL, "terminal", "focus", 0.95, "a terminal has keyboard focus")
        if wrong:
            return wrong
        if state.view == "":
            if not state.file:
                return nothing(self.name, "no file is open")
            says = "a dialog or an input box has keyboard focus"
            return problem(self.name, DIALOG, "input_box", "focus", 0.9, says)
        if state.view != TEXT_EDITOR:
            says = f"keyboard focus is in {state.view!r}, not in the text"
            return problem(self.name, DIALOG, "side_view", "focus", 0.9, says)
        return ok(self.name, f"{PurePath(state.file).name} has keyboard focus", 0.9, "file", "focus", "window")

    def _wrong_file(self, actual: str, situation: ScreenSituation) -> Evidence | None:
        expected = situation.expected_file
        if expected is None or self._is_expected(actual, expected):
            return None
        says = f"{actual or 'no file'} is open, not {expected}"
        return problem(self.name, WRONG_FILE, "wrong_file", "file", 0.95, says, actual or "none")

    def _is_expected(self, actual: str, expected: str) -> bool:
        if self._folder is not None:
            return PurePath(actual) == PurePath(self._folder) / expected
        return PurePath(actual).parts[-len(PurePath(expected).parts) :] == PurePath(expected).parts

    def _without_settings(self, active: Window) -> Evidence | None:
        """An editor whose title no longer shows its state: it now saves automatically and completes brackets."""
        if not self._title_shows_state:
            return None
        says = f"the editor has lost its settings: its title is {active.title[:80]!r}"
        return problem(self.name, ERROR, "settings_lost", "window", 0.95, says)

    def _plain_title(self, title: str, situation: ScreenSituation) -> Evidence:
        """An editor without our template: its title has the file's name, and nothing about keyboard focus."""
        expected = situation.expected_file
        if expected is None:
            return ok(self.name, "the editor is in front", 0.6, "window")
        if PurePath(expected).name in title:
            return ok(self.name, f"{PurePath(expected).name} is in front", 0.7, "file", "window")
        actual = title.partition(" - ")[0].strip(" ●")
        says = f"{actual!r} is open, not {expected}"
        return problem(self.name, WRONG_FILE, "wrong_file", "file", 0.86, says, actual or "none")
