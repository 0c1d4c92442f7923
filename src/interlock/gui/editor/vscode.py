"""VSCodeController: the editor by keyboard, with a look at the title after every step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ...core import InterlockError
from ..desktop.accessibility import Accessibility, NoAccessibility
from ..desktop.windows import Place, Window, WindowSystem
from ..input.backend import InputBackend
from ..session import inside
from ..waiting import wait_until
from .profile import COMMANDS, PREFIX
from .title import TERMINAL, TEXT_EDITOR, TitleState, parse_title

STEP_S = 5.0
"""How long the editor may take for one step; under load a quick-open box takes a second."""

OPEN_TRIES = 3


class EditorTrouble(InterlockError):
    """Raised when the editor does not do what a key should make it do; a look at the screen says why."""


class VSCodeController:
    """One editor window. `folder` is the workspace that it shows.

    Every method leaves the keyboard in the text editor or raises EditorTrouble; none types into anything else.
    """

    def __init__(
        self,
        keyboard: InputBackend,
        windows: WindowSystem,
        folder: str | Path,
        accessibility: Accessibility | None = None,
        give_up: Callable[[], bool] = lambda: False,
    ) -> None:
        self.keyboard, self.windows, self.folder = keyboard, windows, Path(folder).resolve()
        self.accessibility = accessibility
        self.give_up = give_up

    def window(self) -> Window | None:
        """The editor's window, active or not."""
        return next((w for w in reversed(self.windows.listed()) if parse_title(w.title)), None)

    def state(self) -> TitleState | None:
        """What the title of the active window says; None while another window has the keyboard."""
        active = self.windows.active()
        return parse_title(active.title) if active else None

    def is_ready(self, path: str | None = None) -> bool:
        """Whether what is typed now goes into the text editor (with `path`: into this file)."""
        state = self.state()
        return state is not None and state.view == TEXT_EDITOR and (path is None or self._shows(state, path))

    def terminal_has_focus(self) -> bool:
        """Whether a terminal would get what is typed: the editor's own, or a terminal program."""
        active = self.windows.active()
        if active is None:
            return False
        state = parse_title(active.title)
        return state.view == TERMINAL if state else "term" in active.class_name.lower()

    def open_file(self, path: str) -> bool:
        """Show a file of the workspace and put the keyboard into it; False if the editor does not."""
        target = inside(self.folder, path)
        for _ in range(OPEN_TRIES):
            if self.is_ready(path):
                return True
            self._prompt("ctrl", "p")
            self.keyboard.type_text(str(target))
            # The list of files follows the text after a moment; too early, Return takes another one.
            wait_until(lambda: False, 0.4, give_up=self.give_up)
            self.keyboard.key_press("Return")
            if self._wait(lambda: self.is_ready(path), STEP_S):
                return True
            self.keyboard.key_press("Escape")
            self.run("focus_editor")
        return self.is_ready(path)

    def go_to(self, line: int, column: int = 1) -> None:
        """Put the cursor to a place."""
        self._prompt("ctrl", "g")
        self.keyboard.type_text(f"{line}:{column}")
        self.keyboard.key_press("Return")
        if not self._wait(self.is_ready, STEP_S):
            raise EditorTrouble(f"the editor does not go to line {line}")

    def select(self, line: int, column: int, last_line: int, last_column: int) -> None:
        """Select from one place to another."""
        self.go_to(line, column)
        self.run("set_anchor")
        self.go_to(last_line, last_column)
        self.run("select_from_anchor")

    def focus_editor(self) -> None:
        """Put the keyboard into the text editor; EditorTrouble if something else keeps it."""
        state = self.state()
        if state is None:
            raise EditorTrouble("the editor's window is not active")
        if state.view == TEXT_EDITOR:
            return
        self.run("focus_editor")
        # Without an open file there is no text editor, and the title looks as if a box were open.
        if not self._wait(self.is_ready, STEP_S if state.file else 0.5) and state.file:
            raise EditorTrouble("a dialog or an input box keeps the keyboard")

    def save(self) -> None:
        self.keyboard.key_combo("ctrl", "s")

    def revert(self) -> None:
        """Take what is on disk and forget unsaved changes."""
        self.run("revert")

    def clear_notifications(self) -> bool:
        self.run("clear_notifications")
        return True

    def run(self, command: str) -> None:
        """Run a command that has a key of its own in our profile."""
        self.keyboard.key_combo(*PREFIX, COMMANDS[command][0])

    def buttons(self) -> dict[str, Place]:
        """The buttons of every dialog that shows, in any program."""
        if self.accessibility is None:
            return {}
        try:
            dialogs = self.accessibility.dialogs()
        except NoAccessibility:
            return {}
        return {button.name: button.place for dialog in dialogs for button in dialog.buttons if button.place}

    def _prompt(self, *keys: str) -> None:
        """Open an input box of the editor and wait until it has the keyboard, so that nothing lands in the text."""
        self.focus_editor()
        self.keyboard.key_combo(*keys)
        if not self._wait(self._box_is_open, STEP_S):
            raise EditorTrouble(f"{'+'.join(keys)} opens nothing")

    def _box_is_open(self) -> bool:
        state = self.state()
        return state is not None and state.view == ""

    def _shows(self, state: TitleState, path: str) -> bool:
        return state.file == str(self.folder / path)

    def _wait(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        return wait_until(condition, timeout_s, every_s=0.01, give_up=self.give_up)
