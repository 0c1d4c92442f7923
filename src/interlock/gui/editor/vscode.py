"""VSCodeController: controls the editor by keyboard and checks its title after every step."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from ...core import InterlockError
from ..accessibility import Accessibility, NoAccessibility, Node
from ..display import wait_until
from ..input import InputBackend
from ..session import inside
from ..windows import Rectangle, Window, WindowSystem
from .profile import COMMANDS, INERT, PREFIX, TERMINAL, TEXT_EDITOR, TitleState, parse_title

STEP_S = 8.0
"""How long the editor may take for one step; under heavy load a quick-open box takes seconds."""

OPEN_TRIES = 3

LIST_S = 0.4
"""How long the list of files takes to update after typing."""

GUARD_EVERY = 32
"""Characters between two checks of the title: a hundredth of a second of typing."""

TEXT_NAME = "editor is not accessible"
"""The text editor's accessible name."""

PIECE = re.compile(r"[\n\t ]|[^\n\t ]{1,32}")


class EditorError(InterlockError):
    """Raised when a key does not have its effect; a check of the screen shows why."""


class VSCodeController:
    """One editor window. `folder` is the workspace that it shows.

    Every method leaves keyboard focus in the text editor or raises EditorError; none types into anything else.
    """

    def __init__(
        self,
        keyboard: InputBackend,
        windows: WindowSystem,
        folder: str | Path,
        accessibility: Accessibility | None = None,
    ) -> None:
        self.keyboard, self.windows, self.folder = keyboard, windows, Path(folder).resolve()
        self.accessibility = accessibility
        self.give_up: Callable[[], bool] = lambda: False
        """Ends every wait; set by a replay."""
        self.list_s, self.step_s = LIST_S, STEP_S
        self.revive: Callable[[], None] = lambda: None
        """Restarts the editor if it has died; set by whoever starts it."""
        self.renew: Callable[[], None] = lambda: None
        """Restarts the running editor; set by whoever starts it."""

    def window(self) -> Window | None:
        """The editor's window, active or not."""
        return next((w for w in reversed(self.windows.listed()) if parse_title(w.title)), None)

    def state(self) -> TitleState | None:
        """The state in the active window's title; None while another window has keyboard focus."""
        active = self.windows.active()
        return parse_title(active.title) if active else None

    def is_ready(self, path: str | None = None) -> bool:
        """Whether what is typed now goes into the text editor (with `path`: into this file)."""
        state = self.state()
        return state is not None and state.view == TEXT_EDITOR and (path is None or self._shows(state, path))

    def is_saved(self, path: str) -> bool:
        """Whether the editor shows this file without unsaved changes."""
        state = self.state()
        return state is not None and self._shows(state, path) and not state.dirty

    def terminal_has_focus(self) -> bool:
        """Whether a terminal has keyboard focus: the editor's own, or a terminal program."""
        active = self.windows.active()
        if active is None:
            return False
        state = parse_title(active.title)
        return state.view == TERMINAL if state else "term" in active.class_name.lower()

    def open_file(self, path: str) -> bool:
        """Open a file of the workspace and focus it; False if the editor does not."""
        target = inside(self.folder, path)
        for _ in range(OPEN_TRIES):
            if self.is_ready(path):
                return True
            self._prompt("quick_open")
            self.keyboard.type_text(str(target))
            # The list of files updates after a moment; too early, another file would be opened.
            if self._wait_for_list(target.name):
                self.run("accept")
                if self._wait(lambda: self.is_ready(path), self.step_s):
                    return True
            if self.give_up():
                break
            self.keyboard.key_press("Escape")
            self.run("focus_editor")
        return self.is_ready(path)

    def go_to(self, line: int, column: int = 1) -> None:
        """Move the cursor to a line and column."""
        self._prompt("go_to_line")
        self.keyboard.type_text(f"{line}:{column}")
        self.run("accept")
        if not self._wait(self.is_ready, self.step_s):
            raise EditorError(f"the editor does not go to line {line}")

    def go_to_end(self, line: int) -> None:
        """Move the cursor to the end of a line."""
        self.go_to(line)
        self.run("line_end")

    def set_anchor(self) -> None:
        """Begin a selection here."""
        self.run("set_anchor")

    def delete_to_here(self) -> None:
        """Delete from where the selection began."""
        self.run("select_from_anchor")
        self.run("delete")

    def type_exactly(self, text: str, guard: Callable[[], None]) -> None:
        """Type a text into the text editor; `guard` is called every few characters and raises to stop.

        Line ends, tabs and blanks are sent as keys that only a text editor understands.
        """
        unguarded = GUARD_EVERY
        for piece in PIECE.findall(text):
            if unguarded >= GUARD_EVERY:
                guard()
                unguarded = 0
            unguarded += len(piece)
            letter = INERT.get(piece)
            if letter is None:
                self.keyboard.type_text(piece)
            else:
                self.keyboard.key_combo(*PREFIX, letter)

    def focus_editor(self) -> None:
        """Move keyboard focus to the text editor; EditorError if something else has it."""
        state = self.state()
        if state is None:
            raise EditorError("the editor's window is not active")
        if state.view == TEXT_EDITOR:
            return
        self.run("focus_editor")
        # Without an open file there is no text editor, and the title looks as if a box were open.
        if not self._wait(self.is_ready, self.step_s if state.is_file else 0.5) and state.is_file:
            raise EditorError("a dialog or an input box keeps the keyboard")

    def save(self) -> None:
        self.run("save")

    def revert(self) -> None:
        """Reload the file from disk and discard unsaved changes."""
        self.run("revert")

    def clear_notifications(self) -> bool:
        self.run("clear_notifications")
        return True

    def run(self, command: str) -> None:
        """Run a command that has its own key in our profile."""
        self.keyboard.key_combo(*PREFIX, COMMANDS[command][0])

    def is_behind(self, title: str) -> bool:
        """Whether a window with this title is behind the editor's, where it does not disturb a session."""
        window = self.window()
        if window is None:
            return False
        return any(other.title == title for other in self.windows.below(window.id))

    def wake(self) -> None:
        """Click into the text if the window has keyboard focus and its page has not.

        This happens after a browser shortcut was pressed while its dialog was open: no key moves focus back.
        """
        window, bounds = self.windows.active(), None
        state = parse_title(window.title) if window is not None else None
        if window is not None and state is not None and state.view == "" and state.file and self._text_is_in_front():
            bounds = self.windows.bounds(window.id)
        if bounds is not None:
            self.keyboard.mouse_move_click(*bounds.centre)

    def _text_is_in_front(self) -> bool:
        """Whether the text has keyboard focus and no dialog is open, so that a click hits nothing else."""
        if self.accessibility is None:
            return False
        try:
            dialogs, focused = self.accessibility.dialogs_and_focus(self.accessibility.frames())
        except NoAccessibility:
            return False
        return not dialogs and any(TEXT_NAME in node.name.casefold() for node in focused)

    def buttons(self) -> dict[str, Rectangle]:
        """The buttons of every visible dialog, in any program; a dialog's window is brought to the front."""
        if self.accessibility is None:
            return {}
        try:
            dialogs = self.accessibility.dialogs()
        except NoAccessibility:
            return {}
        for dialog in dialogs:
            if dialog.is_window and dialog.buttons:
                self._raise_window(dialog.text)
        return {button.name: button.bounds for dialog in dialogs for button in dialog.buttons if button.bounds}

    def _raise_window(self, title: str) -> None:
        """A click hits what is on top."""
        window = next((each for each in self.windows.listed() if each.title == title), None)
        if window is not None and self.windows.activate(window.id):
            self._wait(lambda: (active := self.windows.active()) is not None and active.id == window.id, 1.0)

    def _prompt(self, command: str) -> None:
        """Open an input box of the editor and wait until it has keyboard focus, so that no key goes into the text."""
        self.focus_editor()
        state = self.state()
        title_shows_box = state is not None and state.view == TEXT_EDITOR
        self.run(command)
        if not title_shows_box and self.accessibility is None:
            # Without an open file the title does not show a box, and there is no other source.
            wait_until(lambda: False, self.list_s, give_up=self.give_up)
        elif not self._wait(self._title_shows_box if title_shows_box else self._box_has_focus, self.step_s):
            raise EditorError(f"{command} opens nothing")

    def _wait_for_list(self, name: str) -> bool:
        """Wait until the list under an input box selects this file; a fixed time without accessibility."""
        if self.accessibility is None:
            wait_until(lambda: False, self.list_s, give_up=self.give_up)
            return not self.give_up()
        return self._wait(lambda: self._is_chosen(name), self.step_s)

    def _focused(self) -> list[Node]:
        """What has keyboard focus; empty if the accessibility bus does not reply."""
        assert self.accessibility is not None
        try:
            return self.accessibility.focused()
        except NoAccessibility:
            return []

    def _is_chosen(self, name: str) -> bool:
        chosen = [node.name for node in self._focused() if node.role == "list item"]
        # More may follow: "unsaved changes", "recently opened", the folder.
        return any(item == name or item.startswith((f"{name},", f"{name} ")) for item in chosen)

    def _title_shows_box(self) -> bool:
        state = self.state()
        return state is not None and state.view == ""

    def _box_has_focus(self) -> bool:
        return any(node.role in ("entry", "list item") and node.bounds is not None for node in self._focused())

    def _shows(self, state: TitleState, path: str) -> bool:
        return state.file == str(self.folder / path)

    def _wait(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        return wait_until(condition, timeout_s, every_s=0.01, give_up=self.give_up)
