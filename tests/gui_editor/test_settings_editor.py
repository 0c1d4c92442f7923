"""An editor that loses its settings while it runs: its title no longer shows its state, and it saves by itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interlock.config.schema import Gui
from interlock.gui.assembly import assemble
from interlock.gui.display import wait_until
from interlock.gui.editor.editor_session import CodeServer, EditorSession
from interlock.gui.editor.profile import is_editors
from interlock.gui.open_editor import screen_of

pytestmark = [pytest.mark.editor, pytest.mark.timeout(300)]


@pytest.fixture
def settings(editor: EditorSession) -> Path:
    assert isinstance(editor.server, CodeServer)
    return editor.server.folder / "user-data" / "User" / "settings.json"


def test_an_editor_that_comes_up_without_its_settings_gets_them(editor: EditorSession, settings: Path) -> None:
    settings.write_text(json.dumps({"forgotten": True}))
    editor.restart_window()
    assert editor.controller.window() is not None
    # It has opened a page of its own by then.
    assert editor.controller.open_file("notes.md")


def test_lost_settings_are_noticed_and_come_back(editor: EditorSession, settings: Path) -> None:
    assert editor.controller.open_file("notes.md")
    watch = assemble(screen_of(editor), Gui(analyzer="local", min_cooldown_seconds=0, save_screenshots=False))
    settings.write_text(json.dumps({"forgotten": True}))
    editor.debug.call("Page.reload", {}, 10)

    def has_left() -> bool:
        # The browser asks first where it thinks that somebody has used the page.
        place = editor.controller.buttons().get("Reload")
        if place is not None:
            editor.keyboard.mouse_move_click(*place.centre)
        return editor.controller.window() is None

    assert wait_until(has_left, 60, every_s=1.5)
    assert wait_until(lambda: any(is_editors(window.title) for window in editor.windows.listed()), 60, every_s=0.1)

    def is_back() -> bool:
        watch.orchestrator.check_now({"expected_file": "notes.md"})
        return editor.controller.is_ready("notes.md")

    assert wait_until(is_back, 150, every_s=0.1), watch.orchestrator.get_events()[-5:]
    assert any("lost its settings" in event.description for event in watch.orchestrator.get_events())
