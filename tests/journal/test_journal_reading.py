"""Reading and following, on disk and in memory alike."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock.core import ManualClock, NotFound, RunSpec
from interlock.journal import (
    Journal,
    JournalEntry,
    JournalReader,
    JournalWriting,
    RunFolder,
    RunSummary,
    Store,
    UnreadableJournal,
    new_run_id,
)
from tests.journal.memory import MemoryJournal

WRITER = """
import sys
from pathlib import Path
from interlock.journal import JournalEntry, Journal, RunFolder
with Journal.open(RunFolder(Path(sys.argv[1]))) as journal:
    for n in range(int(sys.argv[2])):
        journal.append([JournalEntry("n", n)], durable=n % 50 == 0)
"""


@pytest.fixture(params=["disk", "memory"])
def either(request: pytest.FixtureRequest, run: RunFolder, clock: ManualClock) -> Iterator[JournalWriting]:
    journal: JournalWriting = Journal.open(run, clock) if request.param == "disk" else MemoryJournal("r", clock)
    yield journal
    journal.close()


kind_names = st.sampled_from(["step", "issue", "état", "un'known", ""])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    batches=st.lists(st.lists(st.tuples(kind_names, st.integers(0, 9)), max_size=5), max_size=8),
    after=st.integers(-2, 25),
    wanted=st.none() | st.frozensets(kind_names),
    limit=st.none() | st.integers(0, 20),
)
def test_reading_is_filtering_what_was_appended(
    tmp_path_factory: pytest.TempPathFactory,
    batches: list[list[tuple[str, int]]],
    after: int,
    wanted: frozenset[str] | None,
    limit: int | None,
) -> None:
    flat = [pair for batch in batches for pair in batch]
    expected = [
        (seq, *pair) for seq, pair in enumerate(flat, 1) if seq > after and (wanted is None or pair[0] in wanted)
    ]
    folder = Store(tmp_path_factory.mktemp("store")).create(RunSpec(run_id=new_run_id()))
    for journal in (Journal.open(folder), MemoryJournal("r")):
        for batch in batches:
            journal.append([JournalEntry(kind, body) for kind, body in batch])
        journal.flush()
        with journal.reader() as reader:
            found = [(r.seq, r.kind, msgspec.json.decode(r.body)) for r in reader.read(after, wanted, limit)]
            assert found == expected[: len(expected) if limit is None else limit]
            assert reader.count() == len(flat)
            for kind in {kind for kind, _ in flat} | {"missing"}:
                seqs = [seq for seq, pair in enumerate(flat, 1) if pair[0] == kind]
                last = reader.last(kind)
                assert (last.seq if last else None) == (seqs[-1] if seqs else None)
                assert reader.count(kind) == len(seqs)
        journal.close()


def test_reading_goes_through_many_transactions_without_missing_one(either: JournalWriting) -> None:
    either.append([JournalEntry("even" if n % 2 == 0 else "odd", n) for n in range(1500)], durable=True)
    reader = either.reader()
    assert [record.seq for record in reader.read()] == list(range(1, 1501))
    assert [record.seq for record in reader.read(kinds={"odd", "none"}, limit=700)] == list(range(2, 1402, 2))
    reader.close()


def test_following_sees_everything_exactly_once_while_it_is_written(either: JournalWriting) -> None:
    def write() -> None:
        for n in range(600):
            either.append([JournalEntry("a" if n % 3 else "b", n)], durable=n % 100 == 0)

    writer = threading.Thread(target=write)
    reader = either.reader()
    writer.start()
    seen = []
    for record in reader.follow(kinds={"a"}, timeout=150):
        seen.append(msgspec.json.decode(record.body))
        if len(seen) == 400:
            break
    writer.join()
    reader.close()
    assert seen == [n for n in range(600) if n % 3]


def test_following_ends_when_nothing_comes_and_when_it_is_told(either: JournalWriting) -> None:
    either.append([JournalEntry("a", 1), JournalEntry("b", 2)], durable=True)
    reader = either.reader()
    assert [record.kind for record in reader.follow(after=1, timeout=0)] == ["b"]
    stop = threading.Event()
    seen = []
    for record in reader.follow(stop=stop):
        seen.append(record.kind)
        stop.set()
    assert seen == ["a"]
    assert list(reader.follow(stop=stop)) == []
    reader.close()


def test_following_goes_on_through_a_change_of_the_owner(run: RunFolder) -> None:
    with Journal.open(run) as journal:
        journal.append([JournalEntry("n", 0)])
    with JournalReader.open(run) as reader:
        following = reader.follow(timeout=150)
        assert next(following).seq == 1
        for seq in (2, 3):
            with Journal.open(run) as journal:
                journal.append([JournalEntry("n", 0)])
            assert next(following).seq == seq


def test_another_process_writes_while_this_one_follows(run: RunFolder) -> None:
    child = subprocess.Popen([sys.executable, "-c", WRITER, str(run.path), "400"])
    with JournalReader.open(run) as reader:
        seen = []
        for record in reader.follow(timeout=150):
            seen.append(msgspec.json.decode(record.body))
            if len(seen) == 400:
                break
    assert child.wait(150) == 0
    assert seen == list(range(400))


def test_a_reader_asks_cheaply_whether_anything_changed(journal: Journal) -> None:
    with journal.reader() as reader:
        assert reader.changed()
        assert not reader.changed()
        journal.append([JournalEntry("a", 1)], durable=True)
        assert reader.changed()
        assert not reader.changed()


def test_the_first_summary_tells_what_the_spec_says(make_run: Callable[..., RunFolder], clock: ManualClock) -> None:
    folder = make_run("fix", task="mend " * 200, workspace="/w", adapter="claude", model="opus")
    with JournalReader.open(folder) as reader:
        summary = reader.summary()
    assert summary is not None
    assert (summary.name, summary.workspace, summary.adapter, summary.model) == ("fix", "/w", "claude", "opus")
    assert (summary.started, summary.status, len(summary.task)) == (clock.time(), "running", 300)


def test_a_summary_of_a_newer_program_loses_only_what_is_unknown() -> None:
    raw = msgspec.json.encode({"run_id": "r", "steps": 4, "mood": "good"})
    assert msgspec.json.decode(raw, type=RunSummary) == RunSummary(run_id="r", steps=4)


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 500, b"SQLite format 3\x00" + b"\xff" * 4000])
def test_a_damaged_journal_is_reported_as_such(run: RunFolder, content: bytes) -> None:
    run.journal.write_bytes(content)
    with pytest.raises(UnreadableJournal, match=r"journal\.db"):
        JournalReader.open(run)
    with pytest.raises(UnreadableJournal, match=r"journal\.db"):
        Journal.open(run)
    assert run.owner() is None


def test_a_missing_journal_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        JournalReader.open(RunFolder(tmp_path / "nothing"))


def test_damage_in_the_middle_of_a_journal_is_reported_while_reading(run: RunFolder) -> None:
    with Journal.open(run) as journal:
        journal.append([JournalEntry("n", os.urandom(1000).hex()) for _ in range(300)])
    raw = bytearray(run.journal.read_bytes())
    raw[65536:-65536] = b"\xaa" * len(raw[65536:-65536])
    run.journal.write_bytes(raw)
    with JournalReader.open(run) as reader:
        assert reader.check() != []
        with pytest.raises(UnreadableJournal, match="damaged"):
            list(reader.read())


def test_records_are_unpacked_one_at_a_time(run: RunFolder) -> None:
    """A short row may hold megabytes: what was read and let go takes no memory."""
    with Journal.open(run) as journal:
        journal.append([JournalEntry("note", {"n": n, "x": "y" * 2_000_000}) for n in range(60)], durable=True)
    with JournalReader.open(run) as reader:
        tracemalloc.start()
        try:
            assert sum(1 for _ in reader.read()) == 60
            assert tracemalloc.get_traced_memory()[1] < 30_000_000
        finally:
            tracemalloc.stop()
