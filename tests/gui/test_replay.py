"""A session is replayed chunk by chunk into an editor on a real display, and comes out byte for byte."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.core import InvalidState
from interlock.gui import (
    FileOperation,
    InterventionConfig,
    InterventionOrchestrator,
    LocalAnalyzer,
    MSSBackend,
    Operation,
    OperationType,
    RecoveryExecutor,
    ReplayEngine,
    ReplaySession,
)
from interlock.gui.analyzer.layers.window import WindowLayer
from interlock.gui.desktop.display import VirtualDisplay
from interlock.gui.desktop.programs import Programs, end_tree
from interlock.gui.desktop.windows import WindowSystem
from interlock.gui.editor.vscode import VSCodeController
from interlock.gui.input.xtest import XTestInput
from interlock.gui.replay.plan import make_plan
from interlock.gui.replay.repair import repair_plan
from interlock.gui.replay.store import SessionStore
from interlock.gui.run import NoRun
from interlock.gui.session import read_session
from interlock.gui.text import expected_content
from interlock.gui.waiting import wait_until

from .test_text import line_texts

INSERT, DELETE, NAVIGATE = OperationType.INSERT, OperationType.DELETE, OperationType.NAVIGATE

CODE = "".join(f"def f{n}(a, b):\n\treturn {{'k': [a ** {n}, \"é→日本\"]}}  # ~`$!\n" for n in range(8))
SESSION = ReplaySession(
    "demo",
    [
        FileOperation("src/a.py", [Operation(INSERT, 1, None, CODE), Operation(DELETE, 3, 4), Operation(NAVIGATE, 2)]),
        FileOperation(
            "b.txt", [Operation(DELETE, 2, 3), Operation(INSERT, 2, None, "zwei drei\n"), Operation(DELETE, 4)]
        ),
        FileOperation("src/a.py", [Operation(INSERT, 1, None, "# the end\n")]),
    ],
)
BEFORE = {"b.txt": "one\ntwo\nthree\nfour\nfive"}
EXPECTED = {
    "src/a.py": expected_content("", SESSION.merged()["src/a.py"]),
    "b.txt": "one\nzwei drei\nfour",
}


class Desk:
    """The tiny editor on a display of its own, with everything that a replay needs."""

    def __init__(self, folder: Path, display: VirtualDisplay) -> None:
        self.folder, self.display = folder, display
        self.workspace = folder / "work"
        self.workspace.mkdir(parents=True, exist_ok=True)
        for path, text in BEFORE.items():
            (self.workspace / path).write_text(text)
        self.log = folder / "log"
        self.windows = WindowSystem(display.name)
        self.keyboard = XTestInput(display.name)
        self.controller = VSCodeController(self.keyboard, self.windows, self.workspace)
        self.controller.list_s, self.controller.step_s = 0.02, 1.0
        self.start()

    def start(self) -> None:
        control = self.folder / f"control{time.monotonic_ns()}"
        self.control = str(control)
        argv = [sys.executable, str(Path(__file__).with_name("tiny_editor.py")), self.workspace, control, self.log]
        self.process = subprocess.Popen([str(each) for each in argv], env=self.display.environment)
        assert wait_until(lambda: self._is_up(), 20)

    def order(self, words: str) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.sendto(words.encode(), self.control)

    def store(self, workspace: Path, session_id: str) -> SessionStore:
        return SessionStore(workspace, session_id, self.folder / "state")

    def engine(self, watch: InterventionOrchestrator | None = None, **options: Any) -> ReplayEngine:
        engine = ReplayEngine(self.controller, watch, store=self.store, **options)
        engine.load_session(SESSION)
        return engine

    def watcher(self, **settings: Any) -> InterventionOrchestrator:
        config = InterventionConfig(
            **({"save_screenshots": False, "min_cooldown_seconds": 0, "interval_seconds": 600} | settings)
        )
        layer = WindowLayer(self.windows, str(self.workspace.resolve()))
        analyzer = LocalAnalyzer([layer], pixels=False)
        executor = RecoveryExecutor(self.keyboard, self.controller)
        watch = InterventionOrchestrator(config, MSSBackend(self.display.name), analyzer, executor)
        analyzer.live = lambda: watch.situation() if watch.situation else _nowhere()
        return watch

    def content(self, path: str) -> str:
        return (self.workspace / path).read_text()

    def came_out(self) -> bool:
        return all(self.content(path) == text for path, text in EXPECTED.items())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.keyboard.close()
        assert wait_until(lambda: not self.windows.listed(), 10)
        self.windows.close()

    def _is_up(self) -> bool:
        window = self.controller.window()
        return window is not None and self.windows.has_focus(window.id)


def _nowhere() -> Any:
    from interlock.gui.analyzer import Situation

    return Situation()


@pytest.fixture
def desk(tmp_path: Path, desktop: VirtualDisplay) -> Iterator[Desk]:
    desk = Desk(tmp_path, desktop)
    yield desk
    desk.close()


def test_a_session_comes_out_byte_for_byte(desk: Desk) -> None:
    steps: list[tuple[int, int, str]] = []
    result = desk.engine(on_progress=lambda *step: steps.append(step)).execute()
    assert result.success, result
    assert desk.came_out()
    assert result.verification is not None
    assert all(comparison.exact for comparison in result.verification.comparisons)
    assert steps[-1][0] == steps[-1][1] == result.chunks
    assert not desk.log.exists()


def test_without_an_orchestrator_it_replays_unwatched_and_can_leave_the_verification_out(desk: Desk) -> None:
    result = desk.engine().execute(verify=False)
    assert result.completed
    assert result.verification is None


def test_it_checks_at_the_start_between_files_and_at_the_end(desk: Desk) -> None:
    watch = desk.watcher()
    contexts: list[object] = []
    check = watch.check_now
    watch.check_now = lambda context=None: (contexts.append(context), check(context))[1]  # type: ignore[method-assign]
    result = desk.engine(watch).execute()
    assert result.success
    assert contexts == [
        "Starting: demo",
        "Just finished: src/a.py",
        "Just finished: b.txt",
        "Just finished: src/a.py",
    ]
    assert watch._thread is None
    assert {event.status.value for event in watch.get_events()} <= {"normal", "unknown"}


@pytest.mark.torture
@pytest.mark.parametrize("fault", ["palette", "dialog", "terminal", "open b.txt"])
def test_a_fault_in_mid_typing_is_recovered_and_the_files_come_out_all_the_same(desk: Desk, fault: str) -> None:
    watch = desk.watcher()

    def disturb(done: int, total: int, path: str) -> None:
        if done == 2 and path == "src/a.py":
            threading.Timer(0.03, desk.order, (fault,)).start()

    result = desk.engine(watch, on_progress=disturb).execute()
    assert result.success, result
    assert desk.came_out()
    assert result.troubles
    assert any(event.outcome == "recovered" for event in watch.get_events())
    assert not desk.log.exists(), desk.log.read_text()


def test_the_background_watch_recovers_while_the_replay_parks(desk: Desk) -> None:
    watch = desk.watcher(interval_seconds=0.05)

    def disturb(done: int, total: int, path: str) -> None:
        if done == 2 and path == "src/a.py":
            desk.order("palette")

    result = desk.engine(watch, on_progress=disturb).execute()
    assert result.success, result
    assert desk.came_out()
    assert not desk.log.exists()


def test_files_that_a_fault_has_changed_go_back_to_the_last_good_chunk(desk: Desk) -> None:
    def disturb(done: int, total: int, path: str) -> None:
        if path == "b.txt" and done == total - 2:
            (desk.workspace / "src/a.py").write_text("destroyed")
            desk.order("palette")

    result = desk.engine(desk.watcher(), on_progress=disturb).execute()
    assert result.success, result
    assert desk.came_out()


def test_an_abort_takes_effect_at_once(desk: Desk) -> None:
    engine = desk.engine()
    aborted: list[float] = []

    def disturb(done: int, total: int, path: str) -> None:
        if done == 1:
            threading.Timer(0.05, lambda: (aborted.append(time.monotonic()), engine.request_abort("enough"))).start()

    engine._on_progress = disturb
    result = engine.execute()
    took = time.monotonic() - aborted[0]
    assert (result.completed, result.reason, result.verification) == (False, "enough", None)
    assert took < 1.0


def test_failed_recoveries_abort_the_replay(desk: Desk) -> None:
    class Useless(RecoveryExecutor):
        def execute(self, actions: list[str], screenshot: Any = None) -> Any:
            from interlock.gui import RecoveryResult

            return RecoveryResult(True, "; ".join(actions))

    watch = desk.watcher(max_retries=2)
    watch.recovery_executor = Useless(desk.keyboard, desk.controller)
    disturb = _once(lambda: desk.order("dialog"))
    result = desk.engine(watch, on_progress=disturb).execute()
    assert (result.completed, result.reason) == (False, "recoveries failed again and again")
    assert [event.outcome for event in watch.get_events()].count("failed") == 2


def _once(action: Callable[[], object]) -> Callable[[int, int, str], None]:
    left = [action]
    return lambda done, total, path: left.pop()() and None if left else None


class Gate(NoRun):
    """A run that is paused after some chunks, and cancelled if told so."""

    def __init__(self, after: int, cancel: bool = False) -> None:
        self.records: list[str] = []
        self.paused, self.resumed = threading.Event(), threading.Event()
        self._after, self._cancel, self._passed = after, cancel, 0

    def record(self, kind: str, body: object) -> None:
        self.records.append(kind)

    def gate(self) -> Any:
        self._passed += 1
        if self._passed == self._after:
            self.paused.set()
            if self._cancel:
                return "stop"
            self.resumed.wait(30)
        return "proceed"


def test_a_paused_run_types_nothing_until_it_is_resumed(desk: Desk) -> None:
    gate = Gate(after=3)
    results: list[Any] = []
    replaying = threading.Thread(target=lambda: results.append(desk.engine(run=gate).execute()))
    replaying.start()
    assert gate.paused.wait(30)
    before = desk.content("src/a.py")
    state = desk.controller.state()
    assert state is not None
    assert not state.dirty
    replaying.join(0.3)
    assert desk.content("src/a.py") == before
    gate.resumed.set()
    replaying.join(60)
    assert results[0].success
    assert gate.records.count("gui_chunk") == results[0].chunks
    assert "gui_verification" in gate.records


def test_a_cancelled_run_ends(desk: Desk) -> None:
    result = desk.engine(run=Gate(after=2, cancel=True)).execute()
    assert (result.completed, result.reason) == (False, "cancelled")


def test_an_aborted_replay_resumes_at_the_exact_place(desk: Desk) -> None:
    first = desk.engine(run=Gate(after=4, cancel=True)).execute()
    assert first.chunks_done == 3
    chunks: list[int] = []
    result = desk.engine(on_progress=lambda done, total, path: chunks.append(done)).execute(resume=True)
    assert result.success, result
    assert chunks[0] == 4
    assert desk.came_out()


def test_resuming_what_never_began_starts_it(desk: Desk) -> None:
    assert desk.engine().execute(resume=True).success
    assert desk.came_out()


CRASHING = """
import sys
from pathlib import Path
from tests.gui.test_replay import *
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
def test_a_replay_that_was_killed_resumes_and_comes_out_byte_for_byte(desk: Desk, after: int) -> None:
    crashing = subprocess.Popen(
        [sys.executable, "-c", CRASHING, desk.display.name, desk.workspace, desk.folder / "state"],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert crashing.stdout is not None
    for _ in range(after):
        assert crashing.stdout.readline()
    os.kill(crashing.pid, signal.SIGKILL)
    crashing.wait()
    crashing.stdout.close()
    assert not desk.came_out()
    result = desk.engine().execute(resume=True)
    assert result.success, result
    assert desk.came_out()


def test_an_editor_that_crashed_is_a_clear_end_and_can_be_resumed(desk: Desk) -> None:
    def crash(done: int, total: int, path: str) -> None:
        if done == 3:
            desk.process.kill()
            desk.process.wait()

    result = desk.engine(on_progress=crash).execute()
    assert not result.completed
    assert "does not come back" in result.reason
    desk.start()
    assert desk.engine().execute(resume=True).success
    assert desk.came_out()


def test_a_display_that_goes_away_ends_the_replay_with_a_clear_word(tmp_path: Path) -> None:
    display = VirtualDisplay(Programs(tmp_path / "programs"), 1000, 700)
    desk = Desk(tmp_path, display)
    watch = desk.watcher()
    result = desk.engine(watch, on_progress=lambda done, total, path: display.close() if done == 2 else None).execute()
    assert not result.completed
    assert "went away" in result.reason
    end_tree(desk.process.pid)
    desk.process.wait()


def test_a_window_manager_that_is_killed_does_not_end_the_replay(tmp_path: Path) -> None:
    display = VirtualDisplay(Programs(tmp_path / "programs"), 1000, 700)
    desk = Desk(tmp_path, display)

    def kill(done: int, total: int, path: str) -> None:
        if done == 2:
            display.programs.end("openbox")

    try:
        result = desk.engine(desk.watcher(), on_progress=kill).execute()
        assert result.success, result
        assert desk.came_out()
    finally:
        desk.process.kill()
        desk.process.wait()
        display.close()


def test_repair_types_the_differing_sections_again(desk: Desk) -> None:
    def spoil(done: int, total: int, path: str) -> None:
        if done == total:
            lines = desk.content("src/a.py").splitlines(keepends=True)
            (desk.workspace / "src/a.py").write_text("".join([*lines[:4], "spoilt\n", *lines[6:]]))

    plain = desk.engine(on_progress=spoil).execute()
    assert not plain.success
    (desk.workspace / "b.txt").write_text(BEFORE["b.txt"])
    (desk.workspace / "src/a.py").write_text("")
    result = desk.engine(on_progress=_only_first(spoil)).execute(repair=True)
    assert result.repaired
    assert result.success, result
    assert desk.came_out()


def _only_first(action: Callable[[int, int, str], None]) -> Callable[[int, int, str], None]:
    seen: list[int] = []

    def act(done: int, total: int, path: str) -> None:
        seen.append(done)
        if seen.count(total) == 1 and done == total:
            action(done, total, path)

    return act


def test_executing_without_a_session_says_what_to_do(desk: Desk) -> None:
    with pytest.raises(InvalidState, match="Call load_session first"):
        ReplayEngine(desk.controller).execute()


@settings(deadline=None)
@given(line_texts, line_texts)
def test_a_repair_leads_from_any_text_to_the_expected_one(actual: str, expected: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "f").write_text(actual)
        session = ReplaySession("s", [FileOperation("f", [Operation(INSERT, 1, None, expected)] if expected else [])])
        mending = repair_plan(make_plan(session, {}), Path(folder))
        text = actual
        for chunk in mending.chunks:
            text = chunk.applied(text)
        assert text == expected


@settings(deadline=None)
@given(st.integers(1, 6))
def test_a_plan_restarts_where_the_cursor_can_be_put(size: int) -> None:
    session = ReplaySession("s", [FileOperation("f", [Operation(INSERT, 1, None, "\tab日c\n\tde\nfghij")])])
    plan = make_plan(session, {"f": "rest"}, size)
    for chunk in plan.chunks:
        start = plan.restart(chunk.index)
        assert start <= chunk.index
        assert plan.chunks[start].start.reachable


def test_a_session_from_a_file_is_the_same_one_when_it_is_resumed(tmp_path: Path) -> None:
    file = tmp_path / "session.json"
    file.write_text('{"session_id": "s", "title": "t", "replay_config": {"chunk_chars": 5}, "files": '
                    '[{"path": "a", "operations": [{"type": "insert", "line": 1, "content": "x"}]}]}')  # fmt: skip
    store = SessionStore(tmp_path, "s", tmp_path / "state")
    store.begin(read_session(file))
    assert store.resume(read_session(file)) is not None
