"""Disks that are full, read-only or slow: told clearly, lost never silently."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from interlock.core import InterlockError, ManualClock, RunSpec
from interlock.journal import (
    LOST,
    Journal,
    JournalEntry,
    JournalReader,
    RunFolder,
    RunSummary,
    Store,
    UnreadableJournal,
)
from interlock.journal.committer import FRAME_BYTES, Committer
from interlock.journal.database import KEPT_WAL_BYTES
from interlock.journal.write_queue import Batch, WriteQueue

from ..waiting import eventually


def fill(disk: Path) -> Path:
    """Take every free byte of a disk."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(b"x" * 4096)
    return ballast


def test_a_full_disk_refuses_durable_entries_and_keeps_the_others_for_later(
    small_disk: Path, clock: ManualClock
) -> None:
    folder = Store(small_disk / "runs", clock).create(RunSpec(run_id="full"))
    with Journal.open(folder, clock) as journal:
        journal.append([JournalEntry("before", 0)], durable=True)
        ballast = fill(small_disk)
        assert journal.append([JournalEntry("kept", n) for n in range(200)]) == 201
        journal.append((), summary=RunSummary(run_id="full", steps=7))
        with pytest.raises(InterlockError, match="disk is full"):
            journal.append([JournalEntry("refused", os.urandom(400_000).hex())] * 2, durable=True)
        with pytest.raises(InterlockError, match="disk is full"):
            journal.flush()
        problem = journal.problem()
        assert problem is not None and "full" in problem.reason
        assert (problem.waiting, problem.lost, problem.over) == (202, 2, False)
        assert journal.append([JournalEntry("after", 1)]) == 204
        ballast.unlink()
        journal.flush()
        problem = journal.problem()
        assert problem is not None and (problem.waiting, problem.lost, problem.over) == (0, 2, True)
    with JournalReader.open(folder) as reader:
        assert reader.check() == []
        records = list(reader.read())
        summary = reader.summary()
    assert [record.seq for record in records] == list(range(1, 205))
    assert [record.kind for record in records] == ["before"] + ["kept"] * 200 + [LOST] * 2 + ["after"]
    assert msgspec.json.decode(records[201].body) == {"kind": "refused", "reason": "the disk is full"}
    assert summary is not None and summary.steps == 7


@pytest.mark.parametrize("small_disk", ["8m"], indirect=True)
def test_a_full_disk_has_room_for_what_a_person_waits_for(small_disk: Path, clock: ManualClock) -> None:
    folder = Store(small_disk / "runs", clock).create(RunSpec(run_id="full"))
    with Journal.open(folder, clock) as journal:
        ballast = fill(small_disk)
        for number in range(300):
            journal.append([JournalEntry("step", "x" * 8000)])
            if number % 60 == 59:
                assert journal.append([JournalEntry("result", number)], durable=True) > 0
        assert (problem := journal.problem()) is not None and problem.lost >= 200
        ballast.unlink()
        eventually(lambda: journal.append([JournalEntry("step", "later")]) > 0)
        journal.append([JournalEntry("step", "later")] * 2)
        journal.flush()
    with JournalReader.open(folder) as reader:
        assert reader.check() == []
        records = list(reader.read())
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    lost = [msgspec.json.decode(record.body).get("entries", 1) for record in records if record.kind == LOST]
    written = [record for record in records if record.kind == "step"]
    assert sum(lost) + len(written) >= 303, "each step is there, or is counted"
    assert len(records) < 150, "what is turned away takes no room"
    assert [msgspec.json.decode(r.body) for r in records if r.kind == "result"] == [59, 119, 179, 239, 299]
    assert [record.kind for record in records if record.kind != LOST][-3:] == ["step"] * 3
    assert {record.kind for record in records} == {"step", "result", LOST}


def test_closing_on_a_full_disk_gives_up_and_says_what_was_lost(small_disk: Path) -> None:
    folder = Store(small_disk / "runs").create(RunSpec(run_id="full"))
    journal = Journal.open(folder)
    journal.append([JournalEntry("safe", 0)], durable=True)
    fill(small_disk)
    journal.append([JournalEntry("gone", os.urandom(400_000).hex())] * 3)
    journal.close()
    problem = journal.problem()
    assert problem is not None and (problem.lost, problem.over) == (3, False)
    with JournalReader.open(folder) as reader:
        assert [record.kind for record in reader.read()] == ["safe"]


def test_a_run_on_a_read_only_disk_can_be_read_and_says_why_it_cannot_be_written(small_disk: Path) -> None:
    store = Store(small_disk / "runs")
    folder = store.create(RunSpec(run_id="kept", name="kept"))
    with Journal.open(folder) as journal:
        journal.append([JournalEntry("a", 1)])
    halves = RunFolder(small_disk / "halves")
    halves.path.mkdir()
    with Journal.open(folder) as journal:
        journal.append([JournalEntry("b", 2)], durable=True)
        for name in ("journal.db", "journal.db-wal"):
            shutil.copy(folder.path / name, halves.path / name)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with JournalReader.open(folder) as reader:
        assert [record.kind for record in reader.read()] == ["a", "b"]
    assert [run.name for run in store.runs()] == ["kept"]
    with pytest.raises(InterlockError, match="Read-only file system"):
        Journal.open(folder)
    with pytest.raises(InterlockError, match="cannot create"):
        store.create(RunSpec(run_id="more"))
    with pytest.raises(UnreadableJournal, match="copy the run's folder"):
        JournalReader.open(halves)


def test_entries_beyond_the_queue_are_counted_and_marked_in_the_journal(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interlock.journal.write_queue.MAX_ENTRIES", 10)
    go_on = threading.Event()
    journal = Journal.open(run)
    commit = journal._committer.commit

    def slow_commit(group: list[Batch]) -> None:
        go_on.wait(150)
        commit(group)

    monkeypatch.setattr(journal._committer, "commit", slow_commit)
    seqs = [journal.append([JournalEntry("n", n)]) for n in range(25)]
    assert seqs == [*range(1, 11), *[0] * 15]
    problem = journal.problem()
    assert problem is not None and (problem.lost, problem.waiting) == (15, 10)
    go_on.set()
    journal.flush()
    assert journal.append([JournalEntry("n", 99)], durable=True) == 12
    problem = journal.problem()
    assert problem is not None and problem.over
    journal.close()
    with JournalReader.open(run) as reader:
        records = list(reader.read(after=10))
    assert [(record.kind, msgspec.json.decode(record.body)) for record in records] == [
        (LOST, {"entries": 15}),
        ("n", 99),
    ]


def test_the_queue_is_bounded_by_size_too_but_never_refuses_what_somebody_waits_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("interlock.journal.write_queue.MAX_CHARACTERS", 1000)
    waiting = WriteQueue(1)
    large = [(1, 0.0, "n", "x" * 600)]
    assert waiting.put(Batch(large, None, durable=False)) == 1
    assert waiting.put(Batch(large, None, durable=False)) == 0
    assert waiting.put(Batch(large, None, durable=True)) == 2
    group = waiting.drain()
    assert [batch.first for batch in group] == [1, 2]
    waiting.settle(group)
    assert waiting.entries == 0
    assert waiting.put(Batch(large, None, durable=False)) == 3


def test_summaries_do_not_pile_up_while_the_disk_refuses(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    import apsw

    journal = Journal.open(run)
    commit = journal._committer.commit
    groups: list[int] = []

    def failing_commit(group: list[Batch]) -> None:
        groups.append(len(group))
        raise apsw.FullError("disk full")

    monkeypatch.setattr(journal._committer, "commit", failing_commit)
    for _ in range(3):
        for n in range(50):
            journal.append((), summary=RunSummary(run_id=run.run_id, steps=n))
        with pytest.raises(InterlockError, match="full"):
            journal.flush()
    assert max(groups) <= 52
    monkeypatch.setattr(journal._committer, "commit", commit)
    journal.flush()
    assert journal.problem() is None
    journal.close()
    with JournalReader.open(run) as reader:
        summary = reader.summary()
    assert summary is not None and summary.steps == 49


def test_a_writer_that_breaks_lets_nobody_wait_for_ever(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    journal = Journal.open(run)

    def broken_commit(group: list[Batch]) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(journal._committer, "commit", broken_commit)
    with pytest.raises(ZeroDivisionError):
        journal.append([JournalEntry("a", 1)], durable=True)
    with pytest.raises(InterlockError, match="closed"):
        journal.append([JournalEntry("a", 1)], durable=True)
    journal.close()
    assert run.owner() is None


def test_room_for_the_log_is_made_ahead_and_what_is_written_into_it_survives_a_crash(
    run: RunFolder, tmp_path: Path
) -> None:
    committer = Committer.open(run.journal)
    committer.commit([numbered(1)])
    while committer.reserve():
        pass
    log = run.journal.with_name(run.journal.name + "-wal")
    assert log.stat().st_size == KEPT_WAL_BYTES
    committer.commit([numbered(2)])
    committer.tidy()
    committer.commit([numbered(3)])
    assert log.stat().st_size == KEPT_WAL_BYTES and not committer.reserve()
    # What the disk has when the power goes: the two files, as they are.
    crashed = RunFolder(tmp_path / "crashed")
    crashed.path.mkdir()
    for file in (run.journal, log):
        shutil.copy(file, crashed.path / file.name)
    with JournalReader.open(crashed) as reader:
        assert reader.check() == []
        assert [record.seq for record in reader.read()] == [1, 2, 3]
    committer.close()
    assert not log.exists()


def test_a_log_that_is_busy_gets_more_room_before_it_has_used_it_up(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interlock.journal.write_queue.IDLE_S", 600.0)
    log = run.journal.with_name(run.journal.name + "-wal")
    with Journal.open(run) as journal:
        begun, used = log.stat().st_size, 0
        while used < 2 * begun:
            journal.append([JournalEntry("n", "x" * 8000)], durable=True)
            used = journal._committer._log_pages * FRAME_BYTES
            eventually(lambda used=used: log.stat().st_size >= used + FRAME_BYTES, "more room")


def test_a_small_disk_is_asked_for_little_room_ahead(small_disk: Path) -> None:
    folder = Store(small_disk / "runs").create(RunSpec(run_id="small"))
    committer = Committer.open(folder.journal)
    committer.commit([numbered(1)])
    log = folder.journal.with_name(folder.journal.name + "-wal")
    while committer.reserve():
        pass
    disk = os.statvfs(small_disk)
    assert 0 < log.stat().st_size <= disk.f_blocks * disk.f_frsize // 4
    assert disk.f_bavail > 0
    committer.close()


@pytest.fixture
def disk_of_small_blocks(tmp_path: Path) -> Iterator[Path]:
    """An ext4 of 24 MB, whose blocks are smaller than a page of memory."""
    place, image = tmp_path / "disk", tmp_path / "image"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(24 * 1024 * 1024)
    for command in (["mkfs.ext4", "-q", "-F", "-b", "1024", image], ["mount", "-o", "loop", image, place]):
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("no such disk can be made here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


CRASH = """
import os, sys
from pathlib import Path
from interlock.journal import Journal, JournalEntry, RunFolder
Journal.open(RunFolder(Path(sys.argv[1]))).append([JournalEntry("step", 2)], durable=True)
os._exit(9)
"""

READ = """
import sys
from pathlib import Path
from interlock.core import InterlockError
from interlock.journal import JournalReader, RunFolder
try:
    with JournalReader.open(RunFolder(Path(sys.argv[1]))) as reader:
        print(reader.count("step"), "steps")
except InterlockError as error:
    print(error)
"""


def script(code: str, place: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, str(place)], capture_output=True, text=True, check=False)


def test_reading_on_a_full_disk_of_small_blocks_ends_no_process(disk_of_small_blocks: Path) -> None:
    """SQLite maps its shared memory, and a page of it that the disk cannot hold ends the process (SIGBUS)."""
    disk = disk_of_small_blocks
    folder = Store(disk / "runs").create(RunSpec(run_id="crashed"))
    assert script(CRASH, folder.path).returncode == 9
    ballast = fill(disk)
    for shared in folder.path.glob("*-shm"):
        shared.unlink()
    with (disk / "crumbs").open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(b"x" * 512)
    # Room for a byte of each page, but not for all of them.
    os.truncate(ballast, ballast.stat().st_size - 16 * 1024)
    os.sync()
    read = script(READ, folder.path)
    assert read.returncode == 0, (read.returncode, read.stderr)
    assert "needs a writable folder with some room" in read.stdout
    ballast.unlink()
    assert script(READ, folder.path).stdout == "1 steps\n"


def test_a_live_journal_is_read_on_a_full_disk_of_small_blocks(disk_of_small_blocks: Path) -> None:
    disk = disk_of_small_blocks
    folder = Store(disk / "runs").create(RunSpec(run_id="live"))
    with Journal.open(folder) as journal:
        journal.append([JournalEntry("step", 1)], durable=True)
        fill(disk)
        assert script(READ, folder.path).stdout == "1 steps\n"


def test_an_idle_writer_that_cannot_tidy_up_waits_for_the_next_idle_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlock.journal.write_queue.IDLE_S", 0.0)
    waiting = WriteQueue(1)
    waiting.put(Batch([(1, 0.0, "n", "x")], None, durable=True))
    waiting.drain()
    before = waiting._put_at
    assert waiting.wait(lambda: True)
    assert waiting._put_at > before


def numbered(seq: int) -> Batch:
    batch = Batch([(1, 0.0, "n", str(seq))], None, durable=False)
    batch.first = seq
    return batch
