"""The series of a long run: what its owner has summed up is what a reader would sum up, or it does not count."""

import msgspec
import pytest

from interlock.core import Intervention, Issue, RunSpec, Step, Tool, Usage
from interlock.journal import (
    SERIES_KINDS,
    JournalEntry,
    JournalReader,
    RunFolder,
    SeriesTally,
    Store,
    load_series,
    store_series,
)
from interlock.journal_records import InterventionRecord, StepRecord
from interlock.report import Story
from interlock.runtime import Run

STEPS = 9_000
"""More than the points that are kept: some are dropped on the way."""


def at_step(run_id: str, index: int) -> list[JournalEntry]:
    """A call with what it used, or a result; now and then an issue, an answer to it, and how that turned out."""
    tool = Tool(f"tool-{index % 300}", {}, f"c{index}")
    kind = "tool_result" if index % 2 else "tool_call"
    step = Step(run_id=run_id, index=index, role="tool", kind=kind, tool=tool, usage=Usage(index, 3, 0.1 * (index % 7)))
    entries = [JournalEntry("step", StepRecord(step, stalled=index % 5 == 0), float(index))]
    if index % 9 == 0:
        issue = Issue(id=f"i{index}", type="loop", step=index, description="again", severity="medium")
        made = Intervention(
            id=f"v{index}", type="soft_correction", level=0, issue_id=issue.id, issue_type="loop", step=index, time=1.0
        )
        said = InterventionRecord(intervention=made, score=0.5, combined=0.5)
        entries += [JournalEntry("issue", issue, 1.0), JournalEntry("intervention", said, 1.0)]
        entries += [JournalEntry("effect", msgspec.structs.replace(made, outcome="helped"), 1.0)]
    return entries


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> RunFolder:
    store = Store(tmp_path_factory.mktemp("store"))
    with Run.create(RunSpec(run_id="long", task="fix the parser"), store) as run:
        for first in range(0, STEPS, 1000):
            run.append_entries([each for at in range(first, first + 1000) for each in at_step("long", at)])
    return store.find("long")


@pytest.fixture
def folder(recorded) -> RunFolder:
    recorded.series.unlink(missing_ok=True)
    return recorded


def summed(folder: RunFolder, until: int | None = None) -> SeriesTally:
    """The journal summed from its start, up to some record."""
    tally = SeriesTally()
    with JournalReader.open(folder) as reader:
        tally.add_records(each for each in reader.bodies(0, SERIES_KINDS) if until is None or each[0] <= until)
    return tally


def shown(folder: RunFolder) -> tuple[object, object]:
    with Story.open(folder) as story:
        return story.series(5_000), story.sums


def store_until(folder: RunFolder, until: int) -> None:
    with JournalReader.open(folder) as reader:
        store_series(folder, reader, summed(folder, until))


@pytest.mark.parametrize("until", [1, 2, 57, 1_000, 4_095, 4_096, 4_097, 8_191, 8_192, 10_000, 10**9])
def test_a_reader_goes_on_from_any_record_and_shows_the_same(folder, until):
    expected = shown(folder)
    store_until(folder, until)
    with JournalReader.open(folder) as reader:
        assert load_series(folder, reader) == summed(folder, until)
    assert shown(folder) == expected


def test_what_is_damaged_is_summed_again(folder):
    expected = shown(folder)
    store_until(folder, 5_000)
    whole = folder.series.read_bytes()
    for data in (b"", whole[:15], whole[:-1], whole[:400] + b"\xff" + whole[401:], b"x" * 100):
        folder.series.write_bytes(data)
        with JournalReader.open(folder) as reader:
            assert load_series(folder, reader) == SeriesTally()
        assert shown(folder) == expected


def test_sums_of_another_journal_do_not_count(folder, tmp_path):
    store_until(folder, 5_000)
    store = Store(tmp_path)
    with Run.create(RunSpec(run_id="long", task="fix the parser"), store) as run:
        run.append_entries([each for at in range(4_000) for each in at_step("long", at)])
    other = store.find("long")
    expected = shown(other)
    other.series.write_bytes(folder.series.read_bytes())
    with JournalReader.open(other) as reader:
        assert load_series(other, reader) == SeriesTally()
    assert shown(other) == expected


def test_sums_that_an_older_version_counted_differently_do_not_count(folder, monkeypatch):
    monkeypatch.setattr("interlock.journal.series.VERSION", 0)
    store_until(folder, 5_000)
    monkeypatch.undo()
    with JournalReader.open(folder) as reader:
        assert load_series(folder, reader) == SeriesTally()


def test_an_owner_sums_up_a_long_run_as_it_goes(tmp_path, monkeypatch):
    monkeypatch.setattr("interlock.runtime.run.EVERY", 100)
    store = Store(tmp_path)
    with Run.create(RunSpec(run_id="long", task="fix the parser"), store) as run:
        run.append_entries([each for at in range(300) for each in at_step("long", at)], durable=True)
        keeper = run._series
        assert keeper is not None and keeper._thread is not None
        keeper._thread.join()
        folder = store.find("long")
        with JournalReader.open(folder) as reader:
            kept = load_series(folder, reader)
        assert kept == summed(folder)
        assert kept.sums.steps == 300


def test_a_short_run_is_not_summed_up(tmp_path):
    store = Store(tmp_path)
    with Run.create(RunSpec(run_id="short", task="fix the parser"), store) as run:
        run.append_entries([each for at in range(100) for each in at_step("short", at)])
    assert not store.find("short").series.exists()


def test_pages_get_the_same_json(folder):
    before = msgspec.json.encode(shown(folder))
    store_until(folder, 6_000)
    assert msgspec.json.encode(shown(folder)) == before
