"""One owner per run, and everybody can see who."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from interlock.core import InvalidState
from interlock.journal import Journal, OwnerInfo, RunFolder

HOLDER = """
import sys
from pathlib import Path
from interlock.journal import RunFolder
lock = RunFolder(Path(sys.argv[1])).lock()
print("held", flush=True)
sys.stdin.read()
"""


def hold(run: RunFolder) -> subprocess.Popen[bytes]:
    """Another process that owns the run."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(run.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout is not None and child.stdout.readline() == b"held\n"
    return child


def test_a_run_has_no_owner_until_somebody_locks_it(run: RunFolder) -> None:
    assert run.owner() is None
    with run.lock():
        owner = run.owner()
        assert owner is not None and owner.pid == os.getpid() and owner.since > 0 and owner.host
    assert run.owner() is None


def test_a_second_owner_is_refused_and_told_who_the_first_is(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlock.journal.lock.PATIENCE_S", 0.0)
    with hold(run) as child:
        with pytest.raises(InvalidState, match=f"owned by process {child.pid}"):
            run.lock()
        with pytest.raises(InvalidState, match=f"owned by process {child.pid}"):
            Journal.open(run)
        child.communicate()
    with run.lock():
        pass


def test_a_killed_owner_is_noticed_at_once(run: RunFolder) -> None:
    with hold(run) as child:
        owner = run.owner()
        assert owner is not None and owner.pid == child.pid
        child.kill()
        child.wait()
        assert run.owner() is None
        with run.lock():
            owner = run.owner()
            assert owner is not None and owner.pid == os.getpid()


def test_an_open_journal_owns_its_run_and_a_lock_handed_in_stays_with_its_holder(run: RunFolder) -> None:
    with Journal.open(run):
        assert run.owner() is not None
    assert run.owner() is None
    with run.lock() as lock:
        with Journal.open(run, lock=lock):
            pass
        assert run.owner() is not None


def test_a_lock_file_that_is_not_written_yet_has_an_unknown_owner(run: RunFolder) -> None:
    with run.lock():
        run.lock_file.write_bytes(b'{"pid": 1')
        assert run.owner() == OwnerInfo()


def test_asking_for_the_owner_never_keeps_an_owner_from_its_run(run: RunFolder) -> None:
    import threading

    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            run.owner()

    askers = [threading.Thread(target=ask) for _ in range(2)]
    for asker in askers:
        asker.start()
    for _ in range(50):
        run.lock().release()
    stop.set()
    for asker in askers:
        asker.join()
