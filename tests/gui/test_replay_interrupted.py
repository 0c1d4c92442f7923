"""A replay that is aborted, paused, cancelled or killed, or whose display is gone, ends clearly and goes on exactly there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from interlock.gui.display import Programs, VirtualDisplay, end_tree
from interlock.gui.screen_supervision import NoRun
from interlock.journal_records import RecordBody, kind_of

from .replay_fixture import ReplayFixture


def test_an_abort_takes_effect_at_once(fixture: ReplayFixture) -> None:
    engine = fixture.engine()
    chunks: list[int] = []

    def disturb(done: int, total: int, path: str) -> None:
        chunks.append(done)
        engine.request_abort("enough")

    engine._on_progress = disturb
    result = engine.execute()
    assert (result.completed, result.reason, result.verification) == (False, "enough", None)
    assert chunks == [1]


class Gate(NoRun):
    """A run that is paused after some chunks, and cancelled if told so."""

    def __init__(self, after: int, cancel: bool = False) -> None:
        self.records: list[str] = []
        self.paused, self.resumed = threading.Event(), threading.Event()
        self._after, self._cancel, self._passed = after, cancel, 0

    def record(self, body: RecordBody) -> None:
        self.records.append(kind_of(body))

    def gate(self) -> Any:
        self._passed += 1
        if self._passed == self._after:
            self.paused.set()
            if self._cancel:
                return "stop"
            self.resumed.wait(150)
        return "proceed"


def test_a_paused_run_types_nothing_until_it_is_resumed(fixture: ReplayFixture) -> None:
    gate = Gate(after=3)
    results: list[Any] = []
    replaying = threading.Thread(target=lambda: results.append(fixture.engine(run=gate).execute()))
    replaying.start()
    assert gate.paused.wait(150)
    before = fixture.content("src/a.py")
    state = fixture.controller.state()
    assert state is not None
    assert not state.dirty
    replaying.join(0.3)
    assert fixture.content("src/a.py") == before
    gate.resumed.set()
    replaying.join(150)
    assert results[0].success
    assert gate.records.count("gui_chunk") == results[0].chunks
    assert "gui_verification" in gate.records


def test_a_cancelled_run_ends(fixture: ReplayFixture) -> None:
    result = fixture.engine(run=Gate(after=2, cancel=True)).execute()
    assert (result.completed, result.reason) == (False, "cancelled")


def test_an_aborted_replay_resumes_at_the_exact_place(fixture: ReplayFixture) -> None:
    first = fixture.engine(run=Gate(after=4, cancel=True)).execute()
    assert first.chunks_done == 3
    chunks: list[int] = []
    result = fixture.engine(on_progress=lambda done, total, path: chunks.append(done)).execute(resume=True)
    assert result.success, result
    assert chunks[0] == 4
    assert fixture.came_out()


def test_resuming_what_never_began_starts_it(fixture: ReplayFixture) -> None:
    assert fixture.engine().execute(resume=True).success
    assert fixture.came_out()


CRASHING = """
import sys
from pathlib import Path
from interlock.gui import ReplayEngine
from interlock.gui.windows import WindowSystem
from interlock.gui.editor.vscode import VSCodeController
from interlock.gui.xtest_input import XTestInput
from interlock.gui.replay.store import SessionStore
from tests.gui.replay_fixture import SESSION
display, workspace, state = sys.argv[1:]
windows, keyboard = WindowSystem(display), XTestInput(display)
engine = ReplayEngine(
    VSCodeController(keyboard, windows, workspace), store=lambda w, s: SessionStore(w, s, Path(state)),
    on_progress=lambda done, total, path: print(done, flush=True),
)
engine.load_session(SESSION)
engine.execute()
"""


@pytest.mark.parametrize("after", [1, 3])
def test_a_replay_that_was_killed_resumes_and_comes_out_byte_for_byte(fixture: ReplayFixture, after: int) -> None:
    crashing = subprocess.Popen(
        [sys.executable, "-c", CRASHING, fixture.display.name, fixture.workspace, fixture.folder / "state"],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert crashing.stdout is not None
    for _ in range(after):
        assert crashing.stdout.readline()
    os.kill(crashing.pid, signal.SIGKILL)
    crashing.wait()
    crashing.stdout.close()
    assert not fixture.came_out()
    result = fixture.engine().execute(resume=True)
    assert result.success, result
    assert fixture.came_out()


def test_an_editor_that_crashed_is_a_clear_end_and_can_be_resumed(fixture: ReplayFixture) -> None:
    def crash(done: int, total: int, path: str) -> None:
        if done == 3:
            fixture.process.kill()
            fixture.process.wait()

    result = fixture.engine(on_progress=crash).execute()
    assert not result.completed
    assert "has not come back" in result.reason
    fixture.start()
    assert fixture.engine().execute(resume=True).success
    assert fixture.came_out()


def test_a_display_that_goes_away_ends_the_replay_with_a_clear_word(tmp_path: Path) -> None:
    display = VirtualDisplay(Programs(tmp_path / "programs"), 1000, 700)
    fixture = ReplayFixture(tmp_path, display)
    watch = fixture.watcher()
    result = fixture.engine(
        watch, on_progress=lambda done, total, path: display.close() if done == 2 else None
    ).execute()
    assert not result.completed
    assert "went away" in result.reason
    end_tree(fixture.process.pid)
    fixture.process.wait()


def test_a_window_manager_that_is_killed_does_not_end_the_replay(tmp_path: Path) -> None:
    display = VirtualDisplay(Programs(tmp_path / "programs"), 1000, 700)
    fixture = ReplayFixture(tmp_path, display)

    def kill(done: int, total: int, path: str) -> None:
        if done == 2:
            display.programs.end("openbox")

    try:
        result = fixture.engine(fixture.watcher(), on_progress=kill).execute()
        assert result.success, result
        assert fixture.came_out()
    finally:
        fixture.process.kill()
        fixture.process.wait()
        display.close()
