"""Something else in place of a run's file: nobody waits for it, reads it for ever or writes to it."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.control import Desired
from interlock.core import InterlockError, NotFound, RunSpec, read_small
from interlock.journal import Journal, JournalEntry, RunFolder, RunSummary, Store
from interlock.journal.verify import verify_journal
from interlock.link import noted_socket
from interlock.link.gate_file import FileGate, read_gate
from interlock.link.inbox import collect_requests, leave_request


def long(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


ODD = {
    "pipe": os.mkfifo,
    "folder": os.mkdir,
    "endless": lambda path: path.symlink_to("/dev/zero"),
    "loop": lambda path: path.symlink_to(path.name),
    "long": long,
}
odd = pytest.mark.parametrize("put", [pytest.param(put, id=name) for name, put in ODD.items()])
Put = Callable[[Path], None]


def make(store: Store, run_id: str) -> RunFolder:
    folder = store.create(RunSpec(run_id=run_id))
    with Journal.open(folder) as journal:
        journal.append([JournalEntry("step", {"n": 1})], durable=True, summary=RunSummary(run_id=run_id, status="done"))
    return folder


@odd
@pytest.mark.parametrize("name", ["journal.db", "lock", "spec.json", "inbox", "parked.json", "tree.json", "socket"])
def test_other_runs_are_listed_and_read(tmp_path: Path, put: Put, name: str) -> None:
    store = Store(tmp_path / "runs")
    good, bad = make(store, "good"), make(store, "bad")
    place = bad.path / name
    shutil.rmtree(place, ignore_errors=True)
    place.unlink(missing_ok=True)
    put(place)
    listed = {run.run_id: run.status for run in store.runs()}
    assert listed["good"] == "done"
    assert verify_journal(good).intact
    with contextlib.suppress(NotFound):
        assert verify_journal(bad).intact is (name != "journal.db")
    bad.owner(), noted_socket(bad.path), list(collect_requests(good.inbox))
    if name == "spec.json":
        with pytest.raises((OSError, InterlockError)):
            bad.spec()


@odd
def test_a_gate_that_is_not_a_file_counts_as_shut_and_is_written_anew(tmp_path: Path, put: Put) -> None:
    path = tmp_path / "gate"
    gate = FileGate(path)
    put(path)
    with pytest.raises(InterlockError, match="cannot be read"):
        read_gate(path)
    if path.is_dir():
        with pytest.raises(OSError, match="directory"):
            gate.set_desired(Desired(status="paused", revision=1, shut=True))
        return
    gate.set_desired(Desired(status="paused", revision=1, shut=True))
    if path.stat().st_size > 1000:
        assert [gate.mend(), gate.mend()] == [False, True]
    found = read_gate(path)
    assert found is not None and found.shut and not path.is_symlink()


@odd
def test_a_request_in_the_inbox_is_found_beside_it(tmp_path: Path, put: Put) -> None:
    leave_request(tmp_path / "inbox", "one", 1, b"{}")
    put(tmp_path / "inbox" / "odd.json")
    assert b"{}" in [request.data for request in collect_requests(tmp_path / "inbox")]


def test_a_small_file_is_read_whole_and_a_longer_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_small(path, 5) == b"12345"
    with pytest.raises(OSError, match="too large"):
        read_small(path, 4)
