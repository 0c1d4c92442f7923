"""Appending: order, atomicity, durability, the summary row."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import apsw
import msgspec
import pytest

from interlock.core import BadInput, InvalidState, ManualClock, Step, Tool
from interlock.journal import Journal, JournalEntry, JournalReader, RunFolder, RunSummary


def kinds(folder: RunFolder) -> list[tuple[int, str]]:
    with JournalReader.open(folder) as reader:
        return [(record.seq, record.kind) for record in reader.read()]


def test_append_numbers_entries_in_order_and_returns_the_last_number(run: RunFolder, clock: ManualClock) -> None:
    with Journal.open(run, clock) as journal:
        assert journal.append([JournalEntry("a", 1), JournalEntry("b", 2)]) == 2
        assert journal.append([JournalEntry("c", 3)], durable=True) == 3
    assert kinds(run) == [(1, "a"), (2, "b"), (3, "c")]


def test_a_durable_append_is_visible_to_others_when_it_returns(journal: Journal) -> None:
    journal.append([JournalEntry("a", 1)])
    seq = journal.append([JournalEntry("b", {"x": [1, "é"]})], durable=True)
    with journal.reader() as reader:
        assert [record.seq for record in reader.read()] == [1, seq]
        last = reader.last("b")
    assert last is not None and msgspec.json.decode(last.body) == {"x": [1, "é"]}


def test_an_append_that_nobody_waits_for_is_written_soon_all_the_same(journal: Journal) -> None:
    journal.append([JournalEntry("a", 1)])
    with journal.reader() as reader:
        assert next(reader.follow(timeout=150)).kind == "a"


def test_commits_wait_for_the_disk(journal: Journal, run: RunFolder) -> None:
    settings = journal._committer._connection
    assert settings.pragma("synchronous") == 2
    assert settings.pragma("journal_mode") == "wal"
    assert settings.pragma("wal_autocheckpoint") == 0


def test_a_record_keeps_time_version_and_the_body_as_it_was(journal: Journal, clock: ManualClock) -> None:
    step = Step(run_id="r", index=3, role="assistant", tool=Tool("bash", {"command": "ls"}))
    journal.append([JournalEntry("step", step), JournalEntry("old", None, time=5.0, v=7)], durable=True)
    with journal.reader() as reader:
        first, second = reader.read()
    assert msgspec.json.decode(first.body, type=Step) == step
    assert (first.time, first.v, first.run_id) == (clock.time(), 1, journal.run_id)
    assert (second.time, second.v, bytes(second.body)) == (5.0, 7, b"null")


def test_a_successor_goes_on_where_the_journal_ended(run: RunFolder) -> None:
    with Journal.open(run) as journal:
        journal.append([JournalEntry("a", 1)] * 3)
    with Journal.open(run) as journal:
        assert journal.append([JournalEntry("b", 1)]) == 4
    assert kinds(run) == [(1, "a"), (2, "a"), (3, "a"), (4, "b")]


def test_many_threads_append_whole_batches_in_the_order_of_their_numbers(run: RunFolder) -> None:
    seqs: dict[int, list[int]] = {}

    def work(me: int) -> None:
        seqs[me] = [
            journal.append([JournalEntry("n", [me, n, part]) for part in range(3)], durable=n % 20 == 0)
            for n in range(100)
        ]

    with Journal.open(run) as journal:
        threads = [threading.Thread(target=work, args=(me,)) for me in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with JournalReader.open(run) as reader:
        records = list(reader.read())
    assert [record.seq for record in records] == list(range(1, 1801))
    for me, ends in seqs.items():
        assert ends == sorted(ends)
        for n, end in enumerate(ends):
            batch = [msgspec.json.decode(record.body) for record in records[end - 3 : end]]
            assert batch == [[me, n, part] for part in range(3)]


def test_the_summary_is_stored_with_the_entries_and_the_newest_counts(run: RunFolder) -> None:
    with Journal.open(run) as journal:
        journal.append((), summary=RunSummary(run_id=run.run_id, steps=1))
        journal.append([JournalEntry("step", 2)], summary=RunSummary(run_id=run.run_id, steps=2), durable=True)
        with journal.reader() as reader:
            summary = reader.summary()
            assert summary is not None and (summary.steps, reader.count()) == (2, 1)
        journal.append((), summary=RunSummary(run_id=run.run_id, steps=3))
    with JournalReader.open(run) as reader:
        summary = reader.summary()
    assert summary is not None and summary.steps == 3


def test_bytes_that_are_no_text_do_not_break_a_record(journal: Journal) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    journal.append([JournalEntry("file", {"path": name, name: [name]})], durable=True)
    with journal.reader() as reader:
        record = reader.last()
    assert record is not None and msgspec.json.decode(record.body)["path"] == "caf?.txt"


def test_what_cannot_be_recorded_is_refused_at_once_and_nothing_of_its_batch_is_kept(journal: Journal) -> None:
    with pytest.raises(TypeError):
        journal.append([JournalEntry("good", 1), JournalEntry("bad", object())])
    with pytest.raises(BadInput, match="too large"):
        journal.append([JournalEntry("good", 1), JournalEntry("large", "x" * (17 * 1024 * 1024))])
    assert journal.append([JournalEntry("good", 2)], durable=True) == 1


def test_a_closed_journal_refuses_and_closing_twice_is_fine(run: RunFolder) -> None:
    journal = Journal.open(run)
    journal.close()
    journal.close()
    with pytest.raises(InvalidState, match="closed"):
        journal.append([JournalEntry("late", 1)])


def test_closing_leaves_one_file_and_owner_only_permissions(run: RunFolder) -> None:
    with Journal.open(run) as journal:
        journal.append([JournalEntry("a", 1)])
    assert sorted(path.name for path in run.path.glob("journal*")) == ["journal.db"]
    for path in (run.path, *run.path.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_closing_while_somebody_reads_loses_nothing(run: RunFolder) -> None:
    with Journal.open(run) as journal:
        journal.append([JournalEntry("a", 1)], durable=True)
        reader = apsw.Connection(str(run.journal))
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM record").get == 1
        journal.append([JournalEntry("b", 2)], durable=True)
    # What it reads is kept from being replaced, and so the rest stays in the log.
    assert Path(f"{run.journal}-wal").exists()
    reader.close()
    with JournalReader.open(run) as after:
        assert [record.kind for record in after.read()] == ["a", "b"]


def test_side_files_of_an_open_journal_are_private_too(journal: Journal, run: RunFolder) -> None:
    journal.append([JournalEntry("a", 1)], durable=True)
    side = list(run.path.glob("journal.db-*"))
    assert {path.name for path in side} == {"journal.db-wal", "journal.db-shm"}
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in side)


def test_the_write_ahead_log_is_worked_off_while_readers_look(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlock.journal.committer.LARGE_WAL_PAGES", 4)
    monkeypatch.setattr("interlock.journal.committer.reservable_bytes", lambda free, most: 0)
    monkeypatch.setattr("interlock.journal.committer.LARGE_DISK", 1 << 62)
    with Journal.open(run) as journal, journal.reader() as reader:
        count, log = 0, Path(f"{run.journal}-wal")
        while count < 200 or log.stat().st_size > count * 4000:
            assert count < 5_000, "the log grows with every record"
            journal.append([JournalEntry("n", "x" * 4000)], durable=True)
            count += 1
            assert reader.last() is not None
        assert reader.count() == count


def test_a_journal_of_a_newer_program_is_read_but_not_written(run: RunFolder) -> None:
    with Journal.open(run) as journal:
        journal.append([JournalEntry("future", {"new": True}, v=99)])
    connection = apsw.Connection(str(run.journal))
    connection.pragma("user_version", 42)
    connection.close()
    with pytest.raises(InvalidState, match="version 42"):
        Journal.open(run)
    with JournalReader.open(run) as reader:
        record = reader.last("future")
    assert record is not None and record.v == 99 and bytes(record.body) == b'{"new":true}'


def test_an_older_journal_is_brought_up_to_date_when_it_is_opened_for_writing(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from interlock.journal import database

    with Journal.open(run) as journal:
        journal.append([JournalEntry("a", 1)])
    monkeypatch.setattr(database, "MIGRATIONS", (*database.MIGRATIONS, "CREATE TABLE later(x)"))
    with Journal.open(run) as journal:
        journal.append([JournalEntry("b", 1)])
    connection = apsw.Connection(str(run.journal))
    assert connection.pragma("user_version") == len(database.MIGRATIONS)
    assert connection.execute("SELECT count(*) FROM later").get == 0
    connection.close()
    assert kinds(run) == [(1, "a"), (2, "b")]
