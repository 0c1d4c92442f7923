"""The index of ended runs: a list opens no journal that has not changed, and an index in doubt is made anew."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from interlock.core import Liveness, ManualClock
from interlock.journal import Journal, JournalReader, RunFolder, RunSummary, Store
from interlock.journal.index import NAME

MakeRun = Callable[..., RunFolder]


def change(folder: RunFolder, clock: ManualClock, **fields: object) -> None:
    with Journal.open(folder, clock) as journal:
        with journal.reader() as reader:
            summary = reader.summary()
        assert summary is not None
        journal.append((), summary=msgspec.structs.replace(summary, **fields))  # type: ignore[arg-type]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs whose journals were opened for reading."""
    seen: list[str] = []
    really = JournalReader.open.__func__  # type: ignore[attr-defined]

    def note(cls: type[JournalReader], folder: RunFolder, *more: object, **options: object) -> JournalReader:
        seen.append(folder.run_id)
        return really(cls, folder, *more, **options)  # type: ignore[no-any-return]

    monkeypatch.setattr(JournalReader, "open", classmethod(note))
    return seen


@pytest.fixture
def three(store: Store, make_run: MakeRun, clock: ManualClock) -> list[RunFolder]:
    """Two ended runs, and one that has not ended."""
    runs = [make_run(name) for name in ("one", "two", "three")]
    for folder in runs[:2]:
        change(folder, clock, status="done", ended=clock.time())
    return runs


def test_ended_runs_are_not_opened_again(store: Store, three: list[RunFolder], opened: list[str]) -> None:
    first = store.runs()
    assert set(opened) == {folder.run_id for folder in three}
    opened.clear()
    assert Store(store.root).runs() == first
    assert opened == [three[2].run_id]


def test_a_run_that_changed_after_its_end_is_read_anew(
    store: Store, three: list[RunFolder], clock: ManualClock
) -> None:
    store.runs()
    change(three[0], clock, steps=7)
    assert {run.name: run.steps for run in Store(store.root).runs()} == {"one": 7, "two": 0, "three": 0}
    assert {run.name: run.steps for run in store.runs()} == {"one": 7, "two": 0, "three": 0}


def test_a_run_that_somebody_takes_up_again_is_shown_with_its_owner(
    store: Store, three: list[RunFolder], clock: ManualClock
) -> None:
    store.runs()
    with Journal.open(three[0], clock) as journal:
        with journal.reader() as reader:
            summary = reader.summary()
        assert summary is not None
        journal.append((), summary=msgspec.structs.replace(summary, status="running", ended=None))
        journal.flush()
        assert next(run for run in store.runs() if run.name == "one").status == "running"


@pytest.mark.parametrize("damage", [b"", b"junk", b"\x92\x02\x80", b"\x92\x01\xc0"])
def test_a_damaged_index_is_made_anew(store: Store, three: list[RunFolder], damage: bytes) -> None:
    first = store.runs()
    (store.root / NAME).write_bytes(damage)
    again = Store(store.root)
    assert again.runs() == first
    assert len((store.root / NAME).read_bytes()) > 100


def test_runs_that_are_gone_leave_the_index(store: Store, three: list[RunFolder]) -> None:
    store.runs()
    store.discard(three[0].run_id)
    assert [run.name for run in store.runs()] == ["three", "two"]
    assert three[0].run_id.encode() not in (store.root / NAME).read_bytes()


def test_a_store_that_cannot_be_written_is_listed_all_the_same(
    store: Store, three: list[RunFolder], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("interlock.journal.index.os.open", full)
    assert len(store.runs()) == 3


@pytest.mark.parametrize(
    ("status", "word", "shown"),
    [
        ("running", "working", True),
        ("paused", "working", False),
        ("paused", "paused", True),
        ("running", "paused", False),
    ],
)
def test_a_run_does_not_work_while_it_is_paused(status: str, word: str, shown: bool) -> None:
    run = RunSummary(run_id="a", status=status, owner_pid=1, liveness=Liveness(word, since=0.0))  # type: ignore[arg-type]
    assert (run.doing is not None) == shown
