"""The window layer: which window is active, and what its title tells of file, dirty flag and focused view."""

from __future__ import annotations

from pathlib import PurePath

from ....core import InterlockError
from ...desktop.windows import Window, WindowSystem
from ...editor.title import TERMINAL, TEXT_EDITOR, TitleState, is_editors, parse_title
from ...screenshot.screenshot import Screenshot
from ..evidence import Evidence, nothing, ok, problem
from ..result import ReplayStatus, ScreenSituation


class WindowLayer:
    """Asks the X server. `folder` is the workspace, for paths in titles; `tells`: the title showed its state."""

    name = "window system"

    def __init__(self, windows: WindowSystem, folder: str | None = None, *, tells: bool = False) -> None:
        self._windows, self._folder, self._tells = windows, folder, tells

    def look(self, screenshot: Screenshot | None, situation: ScreenSituation) -> Evidence:
        try:
            active = self._windows.active()
            listed = self._windows.listed() if active is None else []
        except InterlockError as error:
            return nothing(self.name, str(error))
        if active is None:
            return self._without_active(listed)
        state = parse_title(active.title)
        if state is not None:
            self._tells = True
            return self._covering(active) or self._editor(state, situation)
        if is_editors(active.title):
            return self._without_settings(active) or self._plain_title(active.title, situation)
        return self._foreign(active)

    def _without_active(self, listed: list[Window]) -> Evidence:
        if any(parse_title(window.title) for window in listed):
            return nothing(self.name, "no window is active")
        status = ReplayStatus.ERROR_STATE
        return problem(self.name, status, "window_gone", "window", 0.9, "the editor has no window")

    def _covering(self, editor: Window) -> Evidence | None:
        """A dialog of another program that is over the editor without having taken the keyboard."""
        try:
            above = [each for each in self._windows.above(editor.id) if self._windows.is_dialog(each.id)]
        except InterlockError:
            return None
        if not above:
            return None
        says = f"another window covers the editor: {above[-1].title[:80]!r} ({above[-1].class_name})"
        return problem(self.name, ReplayStatus.DIALOG_BLOCKING, "foreign_dialog", "window", 0.9, says)

    def _foreign(self, active: Window) -> Evidence:
        says = f"another window is in front: {active.title[:80]!r} ({active.class_name})"
        if "term" in active.class_name.lower():
            return problem(self.name, ReplayStatus.TERMINAL_FOCUS, "foreign_terminal", "window", 0.95, says)
        return problem(self.name, ReplayStatus.DIALOG_BLOCKING, "foreign_dialog", "window", 0.95, says)

    def _editor(self, state: TitleState, situation: ScreenSituation) -> Evidence:
        wrong = self._wrong_file(state.file, situation)
        if state.view == TERMINAL:
            says = "a terminal has keyboard focus"
            return problem(self.name, ReplayStatus.TERMINAL_FOCUS, "terminal", "focus", 0.95, says)
        if wrong:
            return wrong
        if state.view == "":
            if not state.file:
                return nothing(self.name, "no file is open")
            says = "a dialog or an input box has keyboard focus"
            return problem(self.name, ReplayStatus.DIALOG_BLOCKING, "input_box", "focus", 0.9, says)
        if state.view != TEXT_EDITOR:
            says = f"keyboard focus is in {state.view!r}, not in the text"
            return problem(self.name, ReplayStatus.DIALOG_BLOCKING, "side_view", "focus", 0.9, says)
        return ok(self.name, f"{PurePath(state.file).name} has keyboard focus", 0.9, "file", "focus", "window")

    def _wrong_file(self, actual: str, situation: ScreenSituation) -> Evidence | None:
        expected = situation.expected_file
        if expected is None or self._is_expected(actual, expected):
            return None
        says = f"{actual or 'no file'} is open, not {expected}"
        return problem(self.name, ReplayStatus.WRONG_FILE, "wrong_file", "file", 0.95, says, actual or "none")

    def _is_expected(self, actual: str, expected: str) -> bool:
        if self._folder is not None:
            return PurePath(actual) == PurePath(self._folder) / expected
        return PurePath(actual).parts[-len(PurePath(expected).parts) :] == PurePath(expected).parts

    def _without_settings(self, active: Window) -> Evidence | None:
        """An editor whose title no longer shows its state: it saves by itself now, and completes brackets."""
        if not self._tells:
            return None
        says = f"the editor has lost its settings: its title is {active.title[:80]!r}"
        return problem(self.name, ReplayStatus.ERROR_STATE, "settings_lost", "window", 0.95, says)

    def _plain_title(self, title: str, situation: ScreenSituation) -> Evidence:
        """An editor without our template: its title has the file's name, and nothing about the keyboard."""
        expected = situation.expected_file
        if expected is None:
            return ok(self.name, "the editor is in front", 0.6, "window")
        if PurePath(expected).name in title:
            return ok(self.name, f"{PurePath(expected).name} is in front", 0.7, "file", "window")
        actual = title.partition(" - ")[0].strip(" ●")
        says = f"{actual!r} is open, not {expected}"
        return problem(self.name, ReplayStatus.WRONG_FILE, "wrong_file", "file", 0.86, says, actual or "none")
