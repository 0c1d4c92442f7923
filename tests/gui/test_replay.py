"""A session is replayed chunk by chunk into an editor on a real display, and comes out byte for byte."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.config.schema import Gui, GuiVerification
from interlock.core import InvalidState
from interlock.gui import (
    FileOperation,
    Operation,
    RecoveryExecutor,
    ReplayEngine,
    ReplaySession,
)
from interlock.gui.replay.plan import make_plan, repair_plan
from interlock.gui.replay.store import SessionStore
from interlock.gui.session import read_session

from .replay_fixture import BEFORE, INSERT, SESSION, ReplayFixture
from .test_text import line_texts


def test_a_session_comes_out_byte_for_byte(fixture: ReplayFixture) -> None:
    steps: list[tuple[int, int, str]] = []
    result = fixture.engine(on_progress=lambda *step: steps.append(step)).execute()
    assert result.success, result
    assert fixture.came_out()
    assert result.verification is not None
    assert all(comparison.exact for comparison in result.verification.comparisons)
    assert steps[-1][0] == steps[-1][1] == result.chunks
    assert not fixture.log.exists()


def test_without_an_orchestrator_it_replays_unwatched_and_can_leave_the_verification_out(
    fixture: ReplayFixture,
) -> None:
    result = fixture.engine().execute(verify=False)
    assert result.completed
    assert result.verification is None


def test_it_checks_at_the_start_between_files_and_at_the_end(fixture: ReplayFixture) -> None:
    watch = fixture.watcher()
    contexts: list[object] = []
    check = watch.check_now
    watch.check_now = lambda context=None: (contexts.append(context), check(context))[1]  # type: ignore[method-assign]
    result = fixture.engine(watch).execute()
    assert result.success
    assert contexts == [
        "Starting: demo",
        "Just finished: src/a.py",
        "Just finished: b.txt",
        "Just finished: src/a.py",
    ]
    assert watch._thread is None
    assert {event.status.value for event in watch.get_events()} <= {"normal", "unknown"}


@pytest.mark.parametrize(
    ("settings", "succeeds", "status"),
    [
        ({}, False, "match"),
        ({"strict": False}, True, "match"),
        ({"strict": False, "similarity_threshold": 1.0}, False, "partial"),
        ({"strict": False, "similarity_threshold": 1.0, "partial_threshold": 1.0}, False, "mismatch"),
    ],
)
def test_the_verification_at_the_end_of_a_replay_follows_the_configuration(
    fixture: ReplayFixture, settings: dict[str, Any], succeeds: bool, status: str
) -> None:
    def change(done: int, total: int, path: str) -> None:
        if done == total:
            target = fixture.workspace / "src/a.py"
            target.write_text(target.read_text().replace("def f0", "def g0"))

    config = Gui(verification=GuiVerification(**settings))
    result = fixture.engine(config=config, on_progress=change).execute()
    assert result.verification is not None
    assert {c.path: c.match_status for c in result.verification.comparisons} == {"src/a.py": status, "b.txt": "match"}
    assert (result.completed, result.verification.success) == (True, succeeds)


@pytest.mark.parametrize("key", ["enabled", "verify_on_completion"])
def test_the_verification_at_the_end_of_a_replay_can_be_switched_off(fixture: ReplayFixture, key: str) -> None:
    result = fixture.engine(config=Gui(verification=GuiVerification(**{key: False}))).execute()
    assert result.completed and result.verification is None


@pytest.mark.torture
@pytest.mark.parametrize("fault", ["palette", "dialog", "terminal", "open b.txt"])
def test_a_fault_in_mid_typing_is_recovered_and_the_files_come_out_all_the_same(
    fixture: ReplayFixture, fault: str
) -> None:
    watch = fixture.watcher()

    def disturb(done: int, total: int, path: str) -> None:
        if done == 2 and path == "src/a.py":
            threading.Timer(0.03, fixture.order, (fault,)).start()

    result = fixture.engine(watch, on_progress=disturb).execute()
    assert result.success, result
    assert fixture.came_out()
    assert result.troubles
    assert any(event.outcome == "recovered" for event in watch.get_events())
    assert not fixture.log.exists(), fixture.log.read_text()


def test_the_background_watch_recovers_while_the_replay_parks(fixture: ReplayFixture) -> None:
    watch = fixture.watcher(interval_seconds=0.05)

    def disturb(done: int, total: int, path: str) -> None:
        if done == 2 and path == "src/a.py":
            fixture.order("palette")

    result = fixture.engine(watch, on_progress=disturb).execute()
    assert result.success, result
    assert fixture.came_out()
    assert not fixture.log.exists()


def test_files_that_a_fault_has_changed_go_back_to_the_last_good_chunk(fixture: ReplayFixture) -> None:
    def disturb(done: int, total: int, path: str) -> None:
        if path == "b.txt" and done == total - 2:
            (fixture.workspace / "src/a.py").write_text("destroyed")
            fixture.order("palette")

    result = fixture.engine(fixture.watcher(), on_progress=disturb).execute()
    assert result.success, result
    assert fixture.came_out()


def test_an_editor_that_looks_well_and_saves_nothing_is_started_anew(
    fixture: ReplayFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("REVERT_S", "SAVE_S"):
        monkeypatch.setattr(f"interlock.gui.replay.typist.{name}", 0.5)
    renewed = []
    fixture.controller.renew = lambda: renewed.append(fixture.restart())
    result = fixture.engine(fixture.watcher(), on_progress=_once(lambda: fixture.order("part"))).execute()
    assert result.success, result
    assert fixture.came_out()
    assert len(renewed) == 1


def test_failed_recoveries_abort_the_replay(fixture: ReplayFixture) -> None:
    class Useless(RecoveryExecutor):
        def execute(self, actions: list[str], screenshot: Any = None) -> Any:
            from interlock.gui import RecoveryResult

            return RecoveryResult(True, "; ".join(actions))

    watch = fixture.watcher(max_retries=2)
    watch.recovery_executor = Useless(fixture.keyboard, fixture.controller)
    disturb = _once(lambda: fixture.order("dialog"))
    result = fixture.engine(watch, on_progress=disturb).execute()
    assert (result.completed, result.reason) == (False, "too many recoveries failed in a row")
    assert [event.outcome for event in watch.get_events()].count("failed") == 2


def _once(action: Callable[[], object]) -> Callable[[int, int, str], None]:
    left = [action]
    return lambda done, total, path: left.pop()() and None if left else None


def test_repair_types_the_differing_sections_again(fixture: ReplayFixture) -> None:
    def spoil(done: int, total: int, path: str) -> None:
        if done == total:
            lines = fixture.content("src/a.py").splitlines(keepends=True)
            (fixture.workspace / "src/a.py").write_text("".join([*lines[:4], "spoilt\n", *lines[6:]]))

    plain = fixture.engine(on_progress=spoil).execute()
    assert not plain.success
    (fixture.workspace / "b.txt").write_text(BEFORE["b.txt"])
    (fixture.workspace / "src/a.py").write_text("")
    result = fixture.engine(on_progress=_only_first(spoil)).execute(repair=True)
    assert result.repaired
    assert result.success, result
    assert fixture.came_out()


def _only_first(action: Callable[[int, int, str], None]) -> Callable[[int, int, str], None]:
    seen: list[int] = []

    def act(done: int, total: int, path: str) -> None:
        seen.append(done)
        if seen.count(total) == 1 and done == total:
            action(done, total, path)

    return act


def test_execute_takes_the_session_that_it_replays(fixture: ReplayFixture) -> None:
    result = ReplayEngine(fixture.controller, store=fixture.store).execute(SESSION)
    assert result.success, result
    assert fixture.came_out()


def test_executing_without_a_session_says_what_to_do(fixture: ReplayFixture) -> None:
    with pytest.raises(InvalidState, match="call load_session first"):
        ReplayEngine(fixture.controller).execute()


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
