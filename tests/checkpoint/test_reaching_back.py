"""However long a run is, its start can be restored; where a target is gone, that is said."""

from __future__ import annotations

import os
import random
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.checkpoint import Checkpoints
from interlock.checkpoint.compact import thin
from interlock.config.schema import Checkpoints as Settings
from interlock.core import InvalidState, ManualClock, NotFound

from .conftest import Open
from .picture import picture

DAY = 86_400


def work(checkpoints: Checkpoints, workspace: Path, calls: int, draw: random.Random) -> None:
    """Calls that write, delete and make folders, a checkpoint before and after each; a person joins in now and then."""
    for number in range(calls):
        checkpoints.create("", number, "before step")
        path = workspace / f"d{draw.randrange(4)}" / f"f{draw.randrange(12)}"
        path.parent.mkdir(exist_ok=True)
        if path.exists() and draw.random() < 0.3:
            path.unlink()
        else:
            path.write_bytes(draw.randbytes(draw.randrange(400)))
        if draw.random() < 0.1:
            (workspace / f"temporary-{number}").write_text("x")
            checkpoints.create("", number, "meanwhile", own=True)
            (workspace / f"temporary-{number}").unlink()
        checkpoints.create("", number + 1, "after step", own=True)


def stored(stores: Path) -> int:
    return sum(item.stat().st_size for item in stores.rglob("*") if item.is_file())


@pytest.mark.parametrize(
    "calls", [560, pytest.param(5_000, marks=pytest.mark.torture), pytest.param(50_000, marks=pytest.mark.torture)]
)
def test_a_long_run_goes_back_to_its_start(open_checkpoints: Open, workspace: Path, stores: Path, calls: int) -> None:
    draw = random.Random(calls)
    for number in range(6):
        (workspace / f"d{number % 3}").mkdir(exist_ok=True)
        (workspace / f"d{number % 3}" / f"f{number}").write_bytes(draw.randbytes(300))
    checkpoints = open_checkpoints(Settings(keep_count=200), run_id="run-1")
    start = checkpoints.create("", 0, "start")
    expected = picture(workspace)
    work(checkpoints, workspace, calls // 2, draw)
    (workspace / "mine").write_text("a person's")
    work(checkpoints, workspace, calls - calls // 2, draw)
    assert len(checkpoints.list()) <= 200 + 200 // 8 + 2 * 16
    assert stored(stores) < 32 * 1024 * 1024
    checkpoints.gc()
    assert len(checkpoints.list()) <= 200
    target = checkpoints.default_target("run-1")
    assert target.id == start.id
    done = checkpoints.restore(target.id, own_changes=checkpoints.own_changes(target.id, "run-1"))
    assert done.verified
    assert [left.path for left in done.left_alone] == ["mine"]
    (workspace / "mine").unlink()
    assert picture(workspace).keys() == expected.keys()
    assert checkpoints.restore(target.id).verified
    assert picture(workspace) == expected
    assert checkpoints.verify().problems == ()


def test_rollback_to_a_start_that_is_gone_is_refused(
    open_checkpoints: Open, workspace: Path, clock: ManualClock
) -> None:
    checkpoints = open_checkpoints(run_id="run-1")
    checkpoints.create("", 0, "start")
    clock.advance(10 * DAY)
    (workspace / "file").write_text("x")
    later = checkpoints.create("", 1, "after step", own=True)
    checkpoints.close()
    other = open_checkpoints(run_id="run-2")
    other.create("", 0, "start")
    clock.advance(5 * DAY)
    other.gc()
    with pytest.raises(InvalidState, match="start was removed") as refused:
        other.default_target("run-1")
    assert later.id in str(refused.value.todo)
    with pytest.raises(NotFound):
        other.default_target("run-3")


def test_the_start_of_a_run_that_lives_longer_than_checkpoints_are_kept_stays(
    open_checkpoints: Open, workspace: Path, clock: ManualClock
) -> None:
    checkpoints = open_checkpoints(Settings(keep_count=1), run_id="run-1")
    start = checkpoints.create("", 0, "start")
    for number in range(5):
        clock.advance(20 * DAY)
        (workspace / "file").write_text(str(number))
        checkpoints.create("", number, "after step", own=True)
    checkpoints.gc()
    assert checkpoints.default_target("run-1").id == start.id


def test_starts_of_runs_go_last_when_the_store_is_too_large(open_checkpoints: Open, workspace: Path) -> None:
    for run in range(4):
        checkpoints = open_checkpoints(Settings(max_bytes=3_000_000), run_id=f"run-{run}")
        checkpoints.create("", 0, "start")
        for number in range(6):
            (workspace / "file").write_bytes(os.urandom(200_000))
            checkpoints.create("", number + 1, "after step", own=True)
        checkpoints.close()
    checkpoints = open_checkpoints(Settings(max_bytes=3_000_000), run_id="run-last")
    checkpoints.gc()
    assert [checkpoints.default_target(f"run-{run}").step for run in range(4)] == [0, 0, 0, 0]
    assert len(checkpoints.list()) < 28


def test_the_same_moment_of_a_run_is_kept_once(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(run_id="run-1")
    (workspace / "file").write_text("one")
    start = checkpoints.create("", 0, "meanwhile")
    assert checkpoints.create("", 0, "meanwhile").id == start.id
    assert checkpoints.create("", 1, "meanwhile").id != start.id, "the conversation has moved on"
    assert checkpoints.create("mine", 1, "meanwhile").label == "mine"
    assert len(checkpoints.list()) == 3


def test_equal_neighbours_are_the_first_to_go(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(Settings(keep_count=40), run_id="run-1")
    checkpoints.create("", 0, "start")
    for number in range(30):
        (workspace / "file").write_text(str(number))
        checkpoints.create("", 2 * number, "after step", own=True)
        checkpoints.create("", 2 * number + 1, "before step")
    checkpoints.gc()
    kept = checkpoints.list()
    assert len(kept) <= 41
    assert {info.step for info in kept if info.cause == "after step"} >= set(range(2, 60, 2))


def test_a_moved_time_of_a_folder_is_a_checkpoint_of_its_own(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(run_id="run-1")
    (workspace / "folder").mkdir()
    start = checkpoints.create("", 0, "meanwhile")
    os.utime(workspace / "folder", ns=(10**18, 10**18))
    assert checkpoints.create("", 0, "meanwhile").id != start.id


def test_a_new_run_has_a_start_of_its_own(open_checkpoints: Open) -> None:
    first = open_checkpoints(run_id="run-1")
    one = first.create("", 0, "start")
    first.close()
    two = open_checkpoints(run_id="run-2").create("", 0, "start")
    assert one.id != two.id


def test_a_store_of_the_first_version_keeps_whose_change_it_was(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(run_id="run-1")
    (workspace / "file").write_text("old")
    start = checkpoints.create("", 0, "start")
    (workspace / "file").write_text("by the run")
    made = checkpoints.create("", 1, "after step", own=True)
    db = checkpoints._store.db
    db.execute("UPDATE checkpoint SET own=1 WHERE id=?", (made.id,))
    db.execute("DROP TABLE own; DROP TABLE run; DELETE FROM meta WHERE key='owned'; PRAGMA user_version=1")
    checkpoints.close()
    again = open_checkpoints(run_id="run-1")
    assert again.default_target("run-1").id == start.id
    assert again.own_changes(start.id).states.keys() == {"file"}


@settings(deadline=None)
@given(st.integers(1, 60), st.integers(0, 300), st.sets(st.integers(0, 300), max_size=20))
def test_thinning_keeps_the_newest_and_what_is_pinned(keep: int, count: int, pinned: set[int]) -> None:
    numbers = list(range(1, count + 1))
    gone = thin(numbers, keep, pinned)
    left = [number for number in numbers if number not in gone]
    assert not gone & pinned
    assert left[-max(1, keep // 2) :] == numbers[-max(1, keep // 2) :] or len(left) < keep
    assert len(left) <= max(keep, len(pinned.intersection(numbers)) + max(1, keep // 2) + 1)


def test_thinned_out_checkpoints_are_further_apart_the_older_they_are() -> None:
    numbers: list[int] = []
    for number in range(1, 20_001):
        numbers.append(number)
        if len(numbers) > 110:
            gone = thin(numbers, 100, {1})
            numbers = [one for one in numbers if one not in gone]
    gaps = [b - a for a, b in pairwise(numbers)]
    assert numbers[0] == 1
    assert gaps[-50:] == [1] * 50
    assert max(gaps) <= 20_000 // 5
    assert sum(gaps[:10]) > sum(gaps[10:20])
