"""A keyboard that the browser keeps to itself comes back to the text."""

from __future__ import annotations

import pytest

from interlock.config.schema import Gui
from interlock.gui.assembly import assemble
from interlock.gui.display import wait_until
from interlock.gui.editor.editor_session import EditorSession
from interlock.gui.open_editor import screen_of
from tests.gui_editor.faults import is_there, prepare, throw

pytestmark = [pytest.mark.editor, pytest.mark.timeout(300)]

HAS_FOCUS = "document.hasFocus()"


def test_a_browsers_shortcut_behind_its_own_dialog_does_not_keep_the_keyboard(editor: EditorSession) -> None:
    assert editor.controller.open_file("notes.md")
    watch = assemble(screen_of(editor), Gui(analyzer="local", min_cooldown_seconds=0, save_screenshots=False))
    fault = prepare("native_dialog", editor)
    assert fault is not None
    # The browser asks only about a page that somebody has used.
    editor.keyboard.type_text("x")
    assert wait_until(lambda: editor.debug.evaluate(HAS_FOCUS), 20, every_s=0.2)
    assert throw("native_dialog", fault)
    assert wait_until(lambda: is_there("native_dialog", editor, "notes.md"), 20, every_s=0.2)
    editor.keyboard.key_combo("ctrl", "g")
    expected = {"expected_file": "notes.md"}

    def is_back() -> bool:
        watch.orchestrator.check_now(expected)
        return editor.controller.is_ready("notes.md") and bool(editor.debug.evaluate(HAS_FOCUS))

    assert wait_until(is_back, 60, every_s=0.1), watch.orchestrator.get_events()[-5:]
