"""Windows over and behind the editor, on a real display with a real window manager."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.gui import ReplayStatus
from interlock.gui.analyzer.evidence import ScreenSituation
from interlock.gui.analyzer.layers import WindowLayer
from interlock.gui.display import wait_until
from interlock.gui.editor.profile import parse_title
from interlock.gui.windows import Rectangle, Window, WindowSystem

from .conftest import Launch
from .replay_fixture import ReplayFixture

EDITOR = """
import sys, time
from Xlib import X, display
d = display.Display()
s = d.screen()
w = s.root.create_window(0, 0, 300, 120, 0, s.root_depth, X.InputOutput, background_pixel=s.white_pixel)
w.set_wm_name(sys.argv[1])
w.map()
d.sync()
time.sleep(120)
"""

DIALOG = """
import sys, time
from Xlib import X, Xatom, display
d = display.Display()
s = d.screen()
w = s.root.create_window(200, 200, 300, 120, 0, s.root_depth, X.InputOutput, background_pixel=s.white_pixel)
w.set_wm_name("Authentication required")
w.set_wm_class("asker", "Asker")
w.change_property(d.intern_atom("_NET_WM_WINDOW_TYPE"), Xatom.ATOM, 32, [d.intern_atom("_NET_WM_WINDOW_TYPE_DIALOG")])
w.map()
d.sync()
time.sleep(120)
"""


@pytest.fixture
def dialog(fixture: ReplayFixture) -> Iterator[Window]:
    """A dialog of another program that has come up over the editor."""
    process = subprocess.Popen([sys.executable, "-c", DIALOG], env=fixture.display.environment)

    def there() -> Window | None:
        return next((window for window in fixture.windows.listed() if window.class_name == "Asker"), None)

    assert wait_until(there, 60)
    found = there()
    assert found is not None
    yield found
    process.kill()
    process.wait()
    assert wait_until(lambda: there() is None, 60)


def inspect(fixture: ReplayFixture) -> ReplayStatus | str:
    evidence = WindowLayer(fixture.windows, str(fixture.workspace)).inspect(None, ScreenSituation())
    return evidence.status if evidence.verdict == "problem" else evidence.verdict


def front(fixture: ReplayFixture, window_id: int) -> None:
    fixture.windows.activate(window_id)
    assert wait_until(lambda: (a := fixture.windows.active()) is not None and a.id == window_id, 60)


def test_a_dialog_that_has_the_keyboard_is_a_trouble(fixture: ReplayFixture, dialog: Window) -> None:
    front(fixture, dialog.id)
    assert inspect(fixture) is ReplayStatus.DIALOG_BLOCKING
    assert not fixture.controller.is_behind(dialog.title)


def test_a_dialog_behind_the_editor_takes_nothing_from_the_session(fixture: ReplayFixture, dialog: Window) -> None:
    editor = fixture.controller.window()
    assert editor is not None
    front(fixture, editor.id)
    assert wait_until(lambda: fixture.controller.is_behind(dialog.title), 60)
    assert inspect(fixture) != ReplayStatus.DIALOG_BLOCKING


def test_an_editor_whose_title_told_its_state_and_no_longer_does_has_lost_its_settings(
    launch: Launch, windows: WindowSystem
) -> None:
    editor = launch("code-server", sys.executable, "-c", EDITOR, "notes.md - work - code-server")
    windows.activate(editor.id)
    assert wait_until(lambda: (a := windows.active()) is not None and a.id == editor.id, 60)
    situation = ScreenSituation("notes.md")
    lost = WindowLayer(windows, "/work", title_shows_state=True).inspect(None, situation)
    assert (lost.verdict, lost.kind, lost.status) == ("problem", "settings_lost", ReplayStatus.ERROR_STATE)
    # One that never told it was not set up by us.
    assert WindowLayer(windows, "/work").inspect(None, situation).verdict == "ok"


def test_places_overlap_when_they_share_a_point() -> None:
    ground = Rectangle(0, 0, 100, 100)
    assert ground.overlaps(Rectangle(99, 99, 5, 5))
    assert not ground.overlaps(Rectangle(100, 0, 5, 5))
    assert not ground.overlaps(Rectangle(0, 100, 5, 5))


def test_a_title_that_names_the_home_folder_names_a_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    state = parse_title("~/lessons/hello.py | dirty= | view=Text Editor | state= | lessons | Visual Studio Code")
    assert state is not None
    assert state.file == str(tmp_path / "lessons" / "hello.py")
