"""Collecting garbage: by age, by count, by size; what stays restores exactly, and space comes back."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from interlock.checkpoint import Checkpoints, packs
from interlock.config.schema import Checkpoints as Settings
from interlock.core import ManualClock

from .conftest import Open
from .picture import picture

DAY = 86_400


def stored(stores: Path) -> int:
    return sum(item.stat().st_blocks * 512 for item in stores.rglob("*") if item.is_file())


def test_old_checkpoints_are_removed_and_the_newest_stays(checkpoints: Checkpoints, clock: ManualClock) -> None:
    old = checkpoints.create()
    clock.advance(13 * DAY)
    young = checkpoints.create()
    clock.advance(2 * DAY)
    newest = checkpoints.create()
    assert checkpoints.gc().removed == (old.id,)
    clock.advance(365 * DAY)
    assert checkpoints.gc().removed == (young.id,)
    assert [info.id for info in checkpoints.list()] == [newest.id]


def test_more_than_the_count_are_thinned_out_and_reach_back(open_checkpoints: Open) -> None:
    checkpoints = open_checkpoints(Settings(keep_count=8))
    made = [checkpoints.create().id for _ in range(100)]
    checkpoints.gc()
    kept = [made.index(info.id) for info in checkpoints.list()]
    assert len(kept) == 8
    assert kept[-4:] == [96, 97, 98, 99]
    assert kept[0] < 50


def test_a_store_over_its_size_loses_the_oldest(open_checkpoints: Open, workspace: Path, stores: Path) -> None:
    checkpoints = open_checkpoints(Settings(max_bytes=3_000_000))
    for _ in range(12):
        (workspace / "file").write_bytes(os.urandom(400_000))
        newest = checkpoints.create()
    swept = checkpoints.gc()
    assert swept.bytes_after <= 3_000_000 < swept.bytes_before
    assert stored(stores) <= 3_000_000
    assert 2 <= len(checkpoints.list()) < 12
    assert checkpoints.list()[-1].id == newest.id


def test_collection_happens_by_itself(open_checkpoints: Open) -> None:
    checkpoints = open_checkpoints(Settings(keep_count=5))
    for _ in range(40):
        checkpoints.create()
    assert len(checkpoints.list()) < 25


def test_what_an_undo_needs_stays(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(Settings(keep_count=1))
    (workspace / "file").write_text("one")
    saved = checkpoints.create()
    (workspace / "file").write_text("two")
    done = checkpoints.restore(saved.id)
    for _ in range(5):
        checkpoints.create()
    checkpoints.gc()
    assert {saved.id, done.safety_id} <= {info.id for info in checkpoints.list()}
    checkpoints.undo()
    assert (workspace / "file").read_text() == "two"


@pytest.mark.parametrize("seed", range(8))
def test_what_stays_restores_exactly_and_dead_space_comes_back(
    open_checkpoints: Open, workspace: Path, stores: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "PACK_BYTES", 200_000)
    monkeypatch.setattr(packs, "FRAME_BYTES", 20_000)
    checkpoints = open_checkpoints(Settings(keep_count=6))
    draw = random.Random(seed)
    pictures = {}
    for round_ in range(20):
        for _ in range(6):
            path = workspace / f"d{draw.randrange(3)}" / f"e{draw.randrange(3)}" / f"f{draw.randrange(9)}"
            if draw.random() < 0.15:
                shutil.rmtree(path.parents[draw.randrange(2)], ignore_errors=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            if draw.random() < 0.3 and path.exists():
                path.unlink()
            else:
                path.write_bytes(draw.randbytes(draw.randrange(30_000)))
        made = checkpoints.create(str(round_))
        pictures[made.id] = picture(workspace)
    before = stored(stores)
    checkpoints.gc()
    assert stored(stores) < before
    assert checkpoints.verify().problems == ()
    kept = [info.id for info in checkpoints.list()]
    assert len(kept) == 6
    assert kept[-3:] == list(pictures)[-3:]
    for name in draw.sample(kept, 6):
        assert checkpoints.restore(name).verified
        assert picture(workspace) == pictures[name]


def test_collection_needs_little_space_of_its_own(
    open_checkpoints: Open, workspace: Path, stores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Live bytes are moved a pack at a time: at its fullest the store has one pack more than before."""
    monkeypatch.setattr(packs, "PACK_BYTES", 500_000)
    monkeypatch.setattr(packs, "FRAME_BYTES", 50_000)
    checkpoints = open_checkpoints(Settings(keep_count=1))
    for number in range(200):
        (workspace / str(number)).write_bytes(os.urandom(30_000))
    checkpoints.create()
    for number in range(0, 200, 3):
        (workspace / str(number)).unlink()
        (workspace / str(number + 1)).unlink(missing_ok=True)
    checkpoints.create()
    before = stored(stores)
    peaks = []
    checkpoints.gc(progress=lambda done, total: peaks.append(stored(stores)))
    assert len(peaks) > 5
    assert max(peaks) <= before + 600_000
    assert stored(stores) < before * 0.6


def test_of_a_runs_own_changes_the_last_of_each_path_stays(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(Settings(keep_count=2), run_id="run-1")
    start = checkpoints.create()
    for number in range(10):
        (workspace / "often").write_text(f"{number}")
        (workspace / f"once{number}").write_text("x")
        checkpoints.create(own=True)
    before = checkpoints.own_changes(start.id).states
    assert checkpoints.gc().removed
    assert checkpoints.own_changes(start.id).states == before
    assert checkpoints._store.number("SELECT count(*) FROM own") == len(before) == 11
    done = checkpoints.restore(start.id, own_changes=checkpoints.own_changes(start.id))
    assert done.left_alone == () and done.verified
