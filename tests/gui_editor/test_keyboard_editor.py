"""A keyboard that the browser keeps to itself comes back to the text."""

from __future__ import annotations

import pytest

from interlock.config.schema import Gui
from interlock.gui.assembly import assemble
from interlock.gui.chaos.faults import is_there, prepare, throw
from interlock.gui.display import wait_until
from interlock.gui.editor.editor_session import EditorSession
from interlock.gui.open_editor import screen_of

pytestmark = [pytest.mark.editor, pytest.mark.timeout(300)]

HAS_FOCUS = "document.hasFocus()"


def test_a_browsers_shortcut_behind_its_own_dialog_does_not_keep_the_keyboard(desk: EditorSession) -> None:
    assert desk.controller.open_file("notes.md")
    watch = assemble(screen_of(desk), Gui(analyzer="local", min_cooldown_seconds=0, save_screenshots=False))
    fault = prepare("native_dialog", desk)
    assert fault is not None
    # The browser asks only about a page that somebody has used.
    desk.keyboard.type_text("x")
    assert wait_until(lambda: desk.debug.evaluate(HAS_FOCUS), 20, every_s=0.2)
    assert throw("native_dialog", fault)
    assert wait_until(lambda: is_there("native_dialog", desk, "notes.md"), 20, every_s=0.2)
    desk.keyboard.key_combo("ctrl", "g")
    expected = {"expected_file": "notes.md"}

    def is_back() -> bool:
        watch.orchestrator.check_now(expected)
        return desk.controller.is_ready("notes.md") and bool(desk.debug.evaluate(HAS_FOCUS))

    assert wait_until(is_back, 60, every_s=0.1), watch.orchestrator.get_events()[-5:]
