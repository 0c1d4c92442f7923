"""Fresh pictures of the real editor: problem against normal from their pixels alone."""

from __future__ import annotations

import pytest

from interlock.gui import LocalAnalyzer, MSSBackend
from interlock.gui.display import wait_until
from interlock.gui.editor.editor_session import EditorSession
from tests.gui_editor.faults import clean_up, is_there, prepare, throw

pytestmark = [pytest.mark.editor, pytest.mark.timeout(300)]


@pytest.fixture
def shown(editor: EditorSession) -> EditorSession:
    """The editor with a file open and the keyboard in it."""
    editor.keyboard.key_press("Escape")
    assert editor.controller.open_file("notes.md")
    return editor


def is_problem(editor: EditorSession) -> bool:
    backend = MSSBackend(editor.display.name)
    try:
        return LocalAnalyzer().analyze(backend.capture_screen()).is_problem
    finally:
        backend.close()


def test_the_editor_as_it_should_be_is_normal(shown: EditorSession) -> None:
    assert wait_until(lambda: not is_problem(shown), 20, every_s=0.5)


@pytest.mark.parametrize("kind", ["palette", "quick_open", "find_box", "foreign_window"])
def test_a_trouble_is_seen_and_is_gone_after_its_recovery(shown: EditorSession, kind: str) -> None:
    fault = prepare(kind, shown)
    assert fault is not None
    assert throw(kind, fault)
    assert wait_until(lambda: is_there(kind, shown, "notes.md"), 30, every_s=0.2)
    assert wait_until(lambda: is_problem(shown), 30, every_s=0.5)
    clean_up(kind, shown)
    shown.keyboard.key_press("Escape")
    assert wait_until(lambda: not is_problem(shown), 30, every_s=0.5)
