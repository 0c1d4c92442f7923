"""The endpoint: the gate between threads, a log that fails, an actuator that fails, followers, the file of the gate."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from interlock.control import (
    ControlState,
    Desired,
    Execute,
    Executed,
    IterationEnded,
    LogEntry,
    OwnerStarted,
    RunEnded,
    Tick,
    new_state,
)
from interlock.core import Applied, InterlockError, ManualClock, Record
from interlock.link import Endpoint, FileGate, JournalLog, read_gate
from interlock.link.live_clock import LiveClock
from tests.gates import write_gate
from tests.journal.memory import MemoryJournal

from ..control.owner import make, short
from .owned import Owned


class Replies:
    """Collects what one sender gets."""

    def __init__(self) -> None:
        self.got: list[str] = []

    def send(self, body: bytes, *, direct: bool = False, seq: int | None = None) -> None:
        import msgspec

        self.got.append(short(msgspec.json.decode(body)))


class FailingLog(JournalLog):
    """A log whose disk is full when told so."""

    full = False

    def append_atomic(self, entries: Sequence[LogEntry], state: ControlState, *, durable: bool) -> int:
        if self.full and durable:
            raise InterlockError("the disk is full")
        return super().append_atomic(entries, state, durable=durable)

    def read(self) -> Iterable[Record]:
        return list(super().read())


class Obedient:
    """An actuator without an outside."""

    def __init__(self) -> None:
        self.revision = self.rested = 0
        self.problem = self.reached = ""

    def set_desired(self, desired: Desired) -> Applied:
        if self.problem:
            raise OSError(self.problem)
        self.revision, self.reached = max(self.revision, desired.revision), desired.status
        return Applied(True)

    def rest(self) -> None:
        self.rested += 1

    def execute(self, order: Execute) -> Executed | None:
        return Executed(order.request_id, True, "done")


def build() -> tuple[Endpoint, FailingLog, Obedient]:
    log, actuator = FailingLog(MemoryJournal("run-1")), Obedient()
    endpoint = Endpoint(new_state("run-1", model="haiku"), log, actuator, ticking=False)
    endpoint.start()
    return endpoint, log, actuator


def test_threads_that_enter_see_the_pause_at_once() -> None:
    endpoint, _, _ = build()
    paused = threading.Event()
    late: list[str] = []

    def work(name: str) -> None:
        for number in range(100_000):
            was_paused = paused.is_set()
            entered = endpoint.enter(f"{name}-{number}")
            if entered:
                endpoint.leave(f"{name}-{number}")
            if was_paused:
                late.extend([name] * entered)
                return

    threads = [threading.Thread(target=work, args=(str(n),)) for n in range(4)]
    for thread in threads:
        thread.start()
    endpoint.receive(make("pause"), Replies())
    paused.set()
    for thread in threads:
        thread.join()
    assert late == [] and endpoint.state.status == "paused" and endpoint.state.under_way == frozenset()


def test_what_waits_for_the_gate_is_woken_by_resume_and_by_the_end() -> None:
    for wake in ("resume", "cancel"):
        endpoint, _, _ = build()
        endpoint.receive(make("pause", id="p"), None)
        assert not endpoint.wait_open(0)
        opened: list[bool] = []
        waiter = threading.Thread(target=lambda: opened.append(endpoint.wait_open(30)))  # noqa: B023
        waiter.start()
        endpoint.receive(make(wake, id="w"), None)
        waiter.join()
        assert opened == [wake == "resume"]


def test_the_last_iteration_to_leave_parks_the_run() -> None:
    endpoint, _, _ = build()
    endpoint.enter("a"), endpoint.enter("b")
    endpoint.receive(make("pause"), None)
    endpoint.leave("a")
    assert endpoint.state.status == "pausing"
    endpoint.leave("b")
    assert endpoint.state.status == "paused"
    endpoint.post(IterationEnded("b"))


def test_who_asked_for_a_pause_is_told_once_what_is_under_way_has_ended_and_the_actuator_has_stopped_the_rest() -> None:
    endpoint, _, actuator = build()
    told: list[tuple[str, str]] = []

    class Listening(Replies):
        def send(self, body: bytes, *, direct: bool = False, seq: int | None = None) -> None:
            super().send(body, direct=direct, seq=seq)
            told.append((self.got[-1], actuator.reached))

    assert endpoint.enter("a")
    reply = Listening()
    endpoint.receive(make("pause", id="p"), reply)
    assert not any("paused" in message for message, _ in told if message.startswith("STATE")), told
    before = len(told)
    endpoint.leave("a")
    assert [reached for _, reached in told[before:]] == ["paused"], told
    assert "paused" in told[-1][0]
    endpoint.receive(make("resume", id="r"), None)
    assert len(told) == before + 1


def test_without_a_durable_first_transaction_there_is_no_ack_and_nothing_happens() -> None:
    endpoint, log, _ = build()
    log.full = True
    replies = Replies()
    with pytest.raises(InterlockError, match="disk is full"):
        endpoint.receive(make("pause"), replies)
    assert replies.got == [] and endpoint.state.status == "running" and endpoint.enter("goes on")
    log.full = False
    endpoint.receive(make("pause"), replies)
    assert replies.got == ["ACK", "success", "STATE pausing"]


def test_a_second_transaction_that_fails_is_done_again_and_the_gate_stays_shut_meanwhile() -> None:
    endpoint, log, actuator = build()
    replies = Replies()

    def fill_up(desired: Desired) -> Applied:
        log.full = True
        return Applied(True)

    actuator.set_desired = fill_up  # type: ignore[method-assign]
    with pytest.raises(InterlockError):
        endpoint.receive(make("pause"), replies)
    assert replies.got == ["ACK"] and not endpoint.enter("x")
    log.full = False
    del actuator.set_desired  # type: ignore[attr-defined]
    endpoint.post(OwnerStarted(actuator.revision))
    assert endpoint.state.status == "paused"
    assert replies.got == ["ACK", "success", "STATE paused"]


def test_an_actuator_that_raises_makes_the_command_fail() -> None:
    endpoint, _, actuator = build()
    replies = Replies()
    actuator.problem = "no space"
    endpoint.receive(make("pause"), replies)
    assert replies.got[:2] == ["ACK", "failed"]
    actuator.problem = ""
    endpoint.post(Tick())
    assert endpoint.enter("x")


def test_followers_hear_every_entry_in_sequence() -> None:
    endpoint, _, _ = build()
    heard: list[tuple[int, str]] = []
    stop = endpoint.follow(lambda seq, entry: heard.append((seq, entry.kind)))
    endpoint.receive(make("pause"), None)
    stop()
    endpoint.post(RunEnded("COMPLETE"))
    kinds = [kind for _, kind in heard]
    assert kinds == ["request", "ack", "result", "state"]
    assert [seq for seq, _ in heard] == list(range(heard[0][0], heard[0][0] + 4))


def test_requests_are_counted_by_command_and_outcome() -> None:
    endpoint, _, _ = build()
    for number, command in enumerate(("pause", "pause", "resume")):
        endpoint.receive(make(command, id=str(number)), None)
    endpoint.receive(b"junk", None)
    assert endpoint.counts == {
        ("pause", "success"): 1,
        ("pause", "invalid_state"): 1,
        ("resume", "success"): 1,
        ("", "unreadable"): 1,
    }


def test_time_in_which_the_process_was_frozen_does_not_count() -> None:
    clock = ManualClock()
    live = LiveClock(clock)
    for _ in range(10):
        clock.advance(1)
        live.now()
    assert live.now().steady == 10
    clock.advance(3600)
    assert live.now().steady < 20 and live.now().wall == clock.time()


def test_the_gate_file_is_shut_before_the_result_and_survives_the_owner(quick_root: Path) -> None:
    with Owned(quick_root) as owned:
        assert not read_gate(owned.folder.gate).shut  # type: ignore[union-attr]
        seen: list[bool] = []
        owned.endpoint.follow(
            lambda _, entry: seen.append(read_gate(owned.folder.gate).shut) if entry.kind == "result" else None  # type: ignore[union-attr]
        )
        owned.endpoint.receive(make("pause"), None)
        assert seen == [True]
    gate = read_gate(owned.folder.gate)
    assert gate is not None and gate.shut and gate.status == "paused"
    with Owned(quick_root) as owned:
        assert owned.endpoint.state.status == "paused" and not owned.endpoint.enter("x")
        owned.endpoint.receive(make("resume", id="r"), None)
        assert not read_gate(owned.folder.gate).shut and owned.endpoint.enter("x")  # type: ignore[union-attr]


def test_an_older_revision_does_not_change_the_gate_file(tmp_path: Path) -> None:
    path = tmp_path / "gate"
    assert read_gate(path) is None
    assert write_gate(path, "paused", 7)
    assert not write_gate(path, "running", 6)
    assert read_gate(path).shut  # type: ignore[union-attr]
    assert write_gate(path, "running", 8) and not read_gate(path).shut  # type: ignore[union-attr]
    assert write_gate(path, "running", 9, shut=True) and read_gate(path).shut  # type: ignore[union-attr]
    assert FileGate(path).revision == 9


def test_a_gate_file_that_somebody_removed_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "gate"
    gate = FileGate(path)
    assert gate.set_desired(Desired(1, "paused", True)).ok and read_gate(path).shut  # type: ignore[union-attr]
    path.unlink()
    assert gate.set_desired(Desired(2, "paused", True)).ok and read_gate(path).revision == 2  # type: ignore[union-attr]
    path.with_name("other").write_bytes(path.read_bytes())
    path.with_name("other").replace(path)
    assert gate.set_desired(Desired(3, "running", False)).ok and not read_gate(path).shut  # type: ignore[union-attr]


def test_syncing_the_gate_file_does_not_bring_a_removed_one_back(tmp_path: Path) -> None:
    path = tmp_path / "gate"
    gate = FileGate(path)
    assert gate.set_desired(Desired(1, "paused", True)).ok
    gate.rest()
    path.unlink()
    gate._worker.shutdown()
    assert not path.exists()


def test_a_gate_file_that_cannot_be_read_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "gate"
    path.write_text("{")
    with pytest.raises(InterlockError, match="It counts as shut"):
        read_gate(path)


def test_the_actuator_rests_when_everything_has_been_told() -> None:
    endpoint, _, actuator = build()
    rested: list[int] = []

    class Listener:
        def send(self, body: bytes, *, direct: bool = False, seq: int | None = None) -> None:
            rested.append(actuator.rested)

    before = actuator.rested
    endpoint.receive(make("pause"), Listener())
    assert len(rested) == 3 and set(rested) == {before}
    assert actuator.rested == before + 1
