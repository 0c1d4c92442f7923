"""The store: making, finding, listing, pruning and exporting runs."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core import BadInput, InvalidState, ManualClock, NotFound, RunSpec
from interlock.journal import (
    Journal,
    JournalEntry,
    JournalReader,
    Pruned,
    RunFolder,
    RunSummary,
    Store,
    UnreadableJournal,
    default_root,
    new_run_id,
    write_durably,
)
from interlock.journal.folder import write_tree
from interlock.process import spawn
from tests.unpacking import unpack

MakeRun = Callable[..., RunFolder]


def end(folder: RunFolder, clock: ManualClock, status: str = "done", fill: int = 0) -> None:
    with Journal.open(folder, clock) as journal:
        with journal.reader() as reader:
            summary = reader.summary()
        assert summary is not None
        journal.append([JournalEntry("fill", "x" * fill)])
        journal.append((), summary=msgspec.structs.replace(summary, status=status, updated=clock.time()))


@given(st.floats(0, 4e9), st.floats(0, 4e9))
def test_ids_sort_by_time_and_are_easy_to_type(one: float, other: float) -> None:
    first, second = new_run_id(min(one, other)), new_run_id(max(one, other))
    assert first[:8] <= second[:8]
    assert len(first) == 12 and first.isascii() and first.isalnum() and first == first.lower()


def test_ids_differ_within_the_same_moment() -> None:
    assert len({new_run_id(5.0) for _ in range(200)}) > 190


def test_a_new_run_has_all_its_places_and_its_spec(store: Store) -> None:
    spec = RunSpec(run_id="abc", name="fix", task="mend it", argv=("claude", "-p", os.fsdecode(b"\xff")))
    folder = store.create(spec)
    assert folder.spec() == msgspec.structs.replace(spec, argv=("claude", "-p", "?"))
    assert sorted(path.name for path in folder.path.iterdir()) == [
        "inbox", "incidents", "journal.db", "pictures", "spec.json",
    ]  # fmt: skip
    assert all(stat.S_IMODE(p.stat().st_mode) & 0o077 == 0 for p in (store.root, folder.path, *folder.path.rglob("*")))


def test_a_run_is_made_once_and_its_id_cannot_leave_the_store(store: Store, run: RunFolder) -> None:
    with pytest.raises(InvalidState, match="already"):
        store.create(RunSpec(run_id=run.run_id))
    for bad in ("", "../x", "a/b", ".hidden", "x" * 65, "a b"):
        with pytest.raises(BadInput, match="cannot be a run id"):
            store.create(RunSpec(run_id=bad))
    assert [summary.run_id for summary in store.runs()] == [run.run_id]


def test_the_store_lies_in_the_users_state_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert default_root() == tmp_path / "interlock" / "runs"
    assert Store().runs() == []


def test_runs_are_listed_newest_first_with_their_live_owner(
    store: Store, make_run: MakeRun, clock: ManualClock
) -> None:
    old, new = make_run("old"), make_run("new")
    end(old, clock)
    with new.lock():
        listed = store.runs()
    assert [(run.name, run.status, run.owner_pid) for run in listed] == [
        ("new", "running", os.getpid()),
        ("old", "done", None),
    ]


def test_a_damaged_run_is_listed_as_such_among_the_others(store: Store, make_run: MakeRun) -> None:
    good, bad, torn = make_run("good"), make_run("bad"), make_run("torn")
    bad.journal.write_bytes(b"\x00" * 5000)
    torn.journal.unlink()
    listed = {run.run_id: run for run in store.runs()}
    assert listed[good.run_id].problem is None
    assert listed[bad.run_id].status == "unreadable" and "damaged" in (listed[bad.run_id].problem or "")
    assert listed[torn.run_id].status == "unreadable" and "no journal" in (listed[torn.run_id].problem or "")


def test_what_is_no_run_is_neither_listed_nor_removed(store: Store, make_run: MakeRun, tmp_path: Path) -> None:
    """Somebody may keep runs in a folder that holds other things."""
    run = make_run("old")
    photos, api, linked = store.root / "photos", store.root / "api", store.root / "linked"
    odd = store.root / os.fsdecode(b"\xff")
    for folder in (photos, api, odd, tmp_path / "elsewhere", store.root / ".new-website"):
        folder.mkdir()
        (folder / "kept.txt").write_text("mine")
        os.utime(folder, (0, 0))
    (api / "spec.json").write_text('{"openapi": "3.1.0"}')
    linked.symlink_to(tmp_path / "elsewhere")
    (store.root / "a-file").write_text("mine")
    assert {listed.run_id for listed in store.runs()} == {run.run_id, "api"}
    outside = Store(tmp_path / "other").create(RunSpec(run_id="outside")).path
    for ref in ("photos", "linked", ".new-website", "../elsewhere", "a-file", "../other/outside", str(outside)):
        with pytest.raises(NotFound):
            store.find(ref)
    failed: list[Pruned] = []
    removed = store.prune(older_than_s=0, keep_last=0, max_bytes=0, failed=failed)
    assert [each.run_id for each in removed] == [run.run_id]
    assert [each.run_id for each in failed] == ["api"] and "spec cannot be read" in failed[0].problem
    for folder in (photos, api, odd, linked, store.root / ".new-website"):
        assert (folder / "kept.txt").read_text() == "mine"
    assert (store.root / "a-file").exists() and not (tmp_path / "elsewhere" / "lock").exists()


def test_listing_many_runs_leaves_nothing_behind_in_their_folders(store: Store, make_run: MakeRun) -> None:
    for n in range(20):
        make_run(f"n{n}")
    before = sorted(store.root.rglob("*"))
    assert len(store.runs()) == 20
    assert sorted(store.root.rglob("*")) == before


def test_a_run_is_found_by_id_name_and_beginning(store: Store, make_run: MakeRun) -> None:
    one, two = make_run("fix-tests"), make_run("write-docs")
    for ref, folder in ((one.run_id, one), ("fix-tests", one), ("write", two), (two.run_id[:-1], two)):
        assert store.find(ref).path == folder.path


def test_of_several_runs_with_one_name_the_live_one_is_meant_else_the_newest(store: Store, make_run: MakeRun) -> None:
    old, middle, new = (make_run("fix") for _ in range(3))
    assert store.find("fix").path == new.path
    with old.lock():
        assert store.find("fix").path == old.path
        with middle.lock(), pytest.raises(BadInput, match=f"2 live runs.*{middle.run_id}.*{old.run_id}"):
            store.find("fix")


def test_an_unknown_run_is_answered_with_names_that_are_near(store: Store, make_run: MakeRun) -> None:
    make_run("fix-tests")
    with pytest.raises(NotFound, match="Did you mean fix-tests"):
        store.find("fix-test5")
    for ref in ("zzz", "..", "../runs", "."):
        with pytest.raises(NotFound):
            store.find(ref)
    with pytest.raises(BadInput, match="no run specified"):
        store.find("")


def test_a_beginning_that_fits_several_is_refused_with_a_list(store: Store, make_run: MakeRun) -> None:
    runs = [make_run(f"job-{n}") for n in range(3)]
    with pytest.raises(BadInput, match=f"3 runs begin.*{runs[0].run_id}"):
        store.find("job")


def test_pruning_takes_old_runs_but_never_a_live_or_a_paused_one(
    store: Store, make_run: MakeRun, clock: ManualClock
) -> None:
    old, paused, live, new = make_run("old"), make_run("paused"), make_run("live"), make_run("new")
    for folder in (old, live):
        end(folder, clock)
    end(paused, clock, "paused")
    clock.advance(1000)
    end(new, clock)
    with live.lock():
        would = store.prune(older_than_s=500, dry_run=True)
        assert [pruned.name for pruned in would] == ["old"] and old.path.exists()
        assert store.prune(older_than_s=500) == would
    assert {run.name for run in store.runs()} == {"paused", "live", "new"}
    assert [path.name for path in store.root.glob(".*")] == [".key"]


def test_pruning_leaves_a_run_whose_agent_lives_though_nobody_owns_it(store: Store, run: RunFolder) -> None:
    tree = spawn(RunSpec(run_id=run.run_id, argv=("sleep", "600")), env=dict(os.environ))
    write_tree(run, tree.handle())
    try:
        assert store.prune(keep_last=0, dry_run=True) == store.prune(keep_last=0) == []
    finally:
        tree.end(0)
    assert [pruned.run_id for pruned in store.prune(keep_last=0)] == [run.run_id]


def test_pruning_keeps_the_newest_and_the_budget(store: Store, make_run: MakeRun, clock: ManualClock) -> None:
    runs = [make_run(f"r{n}") for n in range(6)]
    for folder in runs:
        end(folder, clock, fill=50_000)
    assert [pruned.name for pruned in store.prune(keep_last=4)] == ["r0", "r1"]
    each = runs[5].size()
    assert [pruned.name for pruned in store.prune(max_bytes=int(each * 2.5))] == ["r2", "r3"]
    assert store.prune(max_bytes=int(each * 2.5), keep_last=5, older_than_s=1e9) == []


def test_pruning_removes_damaged_runs_by_age(store: Store, run: RunFolder, clock: ManualClock) -> None:
    run.journal.write_bytes(b"broken")
    clock.advance(1e10)
    assert [pruned.run_id for pruned in store.prune(older_than_s=10)] == [run.run_id]


def test_pruning_sweeps_what_dead_processes_left(store: Store, run: RunFolder) -> None:
    for name, age in ((".new-dead", 1.0), (".gone-dead", 1.0), (".new-now", None)):
        (store.root / name).mkdir()
        if age is not None:
            os.utime(store.root / name, (age, age))
    store.prune()
    assert {path.name for path in store.root.glob(".*")} == {".new-now", ".key"}


@pytest.mark.parametrize("name", ["copy", "copy.tar.gz"])
def test_an_export_of_a_live_run_is_whole_and_consistent(
    store: Store, run: RunFolder, tmp_path: Path, name: str
) -> None:
    (run.incidents / "i1").mkdir()
    (run.incidents / "i1" / "report.json").write_text("{}")
    stop = threading.Event()

    def write() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            summary = RunSummary(run_id=run.run_id, name="first", steps=n)
            journal.append([JournalEntry("half", [n, part]) for part in range(2)], summary=summary, durable=n % 10 == 0)

    with Journal.open(run) as journal:
        writer = threading.Thread(target=write)
        journal.append([JournalEntry("half", [0, part]) for part in range(2)], durable=True)
        writer.start()
        target = store.export("first", tmp_path / name)
        stop.set()
        writer.join()
    if name.endswith(".tar.gz"):
        unpack(target, tmp_path / "out")
        target = tmp_path / "out" / run.run_id
    copy = RunFolder(target)
    assert copy.spec() == run.spec() and (copy.incidents / "i1" / "report.json").read_text() == "{}"
    assert not copy.lock_file.exists()
    assert sorted(path.name for path in copy.path.glob("journal*")) == ["journal.db"]
    with JournalReader.open(copy) as reader:
        assert reader.check() == []
        assert reader.run_id == run.run_id
        records = list(reader.read())
        summary = reader.summary()
    assert [record.seq for record in records] == list(range(1, len(records) + 1)) and len(records) % 2 == 0
    assert summary is not None and summary.steps == len(records) // 2 - 1
    assert not list(tmp_path.glob(".export*"))


def test_an_export_never_overwrites_and_leaves_nothing_half_done(store: Store, run: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(BadInput, match="already exists"):
        store.export(run.run_id, tmp_path / "there")
    run.journal.write_bytes(b"broken" * 1000)
    with pytest.raises(UnreadableJournal):
        store.export(run.run_id, tmp_path / "copy")
    assert not (tmp_path / "copy").exists() and not list(tmp_path.glob(".export*"))


def test_a_durable_file_is_replaced_whole_and_private(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    for data in (b"one", b"two"):
        write_durably(gate, data)
        assert gate.read_bytes() == data
    assert stat.S_IMODE(gate.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["gate"]
