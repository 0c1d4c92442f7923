"""Notifications as hints: what they point at is looked at, and whatever they may have missed is walked."""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.checkpoint import Checkpoints, snapshot
from interlock.checkpoint.change_watcher import ChangeWatcher
from interlock.checkpoint.restore_steps import RestoreSteps
from interlock.config.schema import Checkpoints as Settings
from interlock.core import InvalidState, ManualClock

from .conftest import Open
from .notifications import Queue
from .picture import picture


@pytest.fixture
def watched(open_checkpoints: Open, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Checkpoints:
    """Checkpoints of a watched workspace with some files in it; nothing is looked at without a hint."""
    monkeypatch.setattr(snapshot, "PATROL", 0)
    for name in ("a", "b", "c/d", "c/e"):
        (workspace / name).mkdir(parents=True)
        (workspace / name / "file").write_text("old")
    checkpoints = open_checkpoints(watch=True)
    assert checkpoints.create().basis == "walk"
    return checkpoints


def the_watch(checkpoints: Checkpoints) -> ChangeWatcher:
    watch = checkpoints._snapshots._watch
    assert watch is not None
    return watch


def paths_since(checkpoints: Checkpoints, first: str, second: str) -> list[str]:
    return [change.path for change in checkpoints.diff(first, second)]


def test_only_what_was_told_is_looked_at(
    watched: Checkpoints, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = watched.create()
    (workspace / "a" / "file").write_text("new")
    (workspace / "a" / "sub" / "deep").mkdir(parents=True)
    (workspace / "a" / "sub" / "deep" / "file").write_text("found too")

    def never(*_: object) -> None:
        raise AssertionError("everything was walked")

    monkeypatch.setattr("interlock.checkpoint.scan.WorkspaceScanner.walk", never)
    second = watched.create()
    assert second.basis == "hints"
    assert paths_since(watched, first.id, second.id) == ["a/file", "a/sub", "a/sub/deep", "a/sub/deep/file"]


def test_a_new_folder_is_watched_from_then_on(watched: Checkpoints, workspace: Path) -> None:
    (workspace / "x" / "y").mkdir(parents=True)
    first = watched.create()
    (workspace / "x" / "y" / "file").write_text("later")
    second = watched.create()
    assert second.basis == "hints"
    assert paths_since(watched, first.id, second.id) == ["x/y/file"]


@pytest.mark.parametrize("trouble", ["overflow", "cut", "late"])
def test_a_torn_queue_is_noticed_and_walked(watched: Checkpoints, workspace: Path, trouble: str) -> None:
    queue = Queue()
    the_watch(watched).read = queue.read
    (workspace / "a" / "file").write_text("new")
    (workspace / "b" / "file").write_text("new")
    queue.trouble, queue.at = trouble, 1
    made = watched.create()
    assert made.basis == "walk"
    assert watched.diff(made.id) == []
    assert watched.create().basis == "hints"


def test_more_changes_than_the_queue_holds_are_walked(watched: Checkpoints, workspace: Path) -> None:
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if limit > 100_000:
        pytest.skip("the queue is too long to be filled here")
    for number in range(limit // 2 + 100):
        os.close(os.open(workspace / "a" / f"new{number}", os.O_CREAT | os.O_WRONLY))
    made = watched.create()
    assert made.basis == "walk"
    assert watched.diff(made.id) == []


@pytest.mark.parametrize("many", [0, snapshot.MANY], ids=["list", "walk"])
def test_what_a_memory_map_hides_is_found_by_a_walk_and_before_a_restore(
    watched: Checkpoints, workspace: Path, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(snapshot, "MANY", many)
    saved = watched.create()
    expected = picture(workspace)
    with open(workspace / "a" / "file", "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[0:3] = b"NEW"
        mapped.flush()
        made = watched.create(walk=True)
        assert (made.basis, paths_since(watched, saved.id, made.id)) == ("walk", ["a/file"])
        mapped[0:3] = b"two"
        mapped.flush()
        watched.restore(saved.id)
    assert picture(workspace) == expected


@pytest.mark.parametrize("memory", [False, True], ids=["disk", "memory"])
@pytest.mark.parametrize("walk", [False, True], ids=["hints", "walk"])
def test_what_was_written_is_read_even_where_its_times_stay(workspace: Path, memory: bool, walk: bool) -> None:
    """A page that was stored to is open to more: the times move with the first store, or not at all."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if memory else None) as elsewhere:
        place = Path(elsewhere) / "work" if memory else workspace
        place.mkdir(exist_ok=True)
        for name in ("one", "other"):
            (place / name).write_bytes(b"old" * 5000)
        os.link(place / "one", place / "twin")
        checkpoints = Checkpoints.open(
            place, Path(elsewhere) / "store", config=Settings(), clock=ManualClock(), watch=True
        )
        with checkpoints:
            checkpoints.create()
            with open(place / "one", "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
                mapped[0:3] = b"NEW"
                os.pwrite(file.fileno(), b"!", 9000)
                mapped[0:3] = b"new"
                before = checkpoints.create()
                mapped[0:3] = b"two"
            after = checkpoints.create(walk=walk)
            assert paths_since(checkpoints, before.id, after.id) == ["one", "twin"]
            expected = picture(place)
            for name in ("one", "twin"):
                (place / name).unlink()
            checkpoints.restore(after.id)
            assert picture(place) == expected


def test_every_name_of_a_file_changes_with_it(watched: Checkpoints, workspace: Path) -> None:
    os.link(workspace / "a" / "file", workspace / "c" / "d" / "other")
    first = watched.create()
    (workspace / "a" / "file").write_text("through one name")
    second = watched.create()
    assert second.basis == "hints"
    assert paths_since(watched, first.id, second.id) == ["a/file", "c/d/other"]


def test_folders_beyond_the_limit_are_looked_at_every_time(
    open_checkpoints: Open, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "PATROL", 0)
    for number in range(30):
        (workspace / str(number)).mkdir()
    checkpoints = open_checkpoints(watch=True)
    the_watch(checkpoints).limit = 10
    checkpoints.create()
    assert len(the_watch(checkpoints).unwatched) == 21
    for number in range(30):
        (workspace / str(number) / "file").write_text("new")
        made = checkpoints.create()
        assert made.basis == "hints"
        assert checkpoints.diff(made.id) == []


def test_only_what_is_mounted_in_the_workspace_has_it_walked(
    watched: Checkpoints, workspace: Path, small_disk: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    small_disk(tmp_path / "elsewhere")
    assert watched.create().basis == "hints"
    (small_disk(workspace / "a") / "file").write_text("on another disk")
    made = watched.create()
    assert (made.basis, made.not_covered) == ("walk", ("a: another file system",))
    subprocess.run(["umount", workspace / "a"], check=True)
    (workspace / "a" / "file").write_text("new")
    made = watched.create()
    assert (made.basis, made.not_covered) == ("walk", ())
    small_disk(workspace)
    (workspace / "file").write_text("in place of all")
    assert watched.create().basis == "walk"
    subprocess.run(["umount", workspace], check=True)
    assert watched.create().basis == "walk"


def test_what_no_notification_tells_is_found_in_turn(
    watched: Checkpoints, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "PATROL", 2)
    (workspace / "c" / "e" / "file").write_text("new")
    the_watch(watched).drain()
    assert any(watched.diff(watched.create().id) == [] for _ in range(12))


def swap(a: Path, b: Path) -> None:
    a.rename(a.with_name("between"))
    b.rename(a)
    a.with_name("between").rename(b)


@pytest.mark.parametrize(
    "change",
    [
        lambda w: (w / "c").rename(w / "z"),
        lambda w: ((w / "c").rename(w / "z"), (w / "z" / "d" / "file").write_text("moved, then changed")),
        lambda w: ((w / "c").rename(w.parent / "out"), (w.parent / "out" / "d" / "new").write_text("outside"),
                   (w.parent / "out").rename(w / "c")),
        lambda w: swap(w / "a", w / "c" / "d"),
        lambda w: (shutil.rmtree(w / "c"), (w / "c").write_text("a file now")),
        lambda w: (shutil.rmtree(w / "c"), (w / "c" / "d").mkdir(parents=True), (w / "c" / "d" / "x").touch()),
        lambda w: ((w / "a").chmod(0o700), os.utime(w / "b", ns=(10**18, 10**18))),
        lambda w: (shutil.rmtree(w / "a"), (w / "a").symlink_to("c")),
    ],
)  # fmt: skip
def test_folders_that_move_are_followed(
    watched: Checkpoints, workspace: Path, change: Callable[[Path], object]
) -> None:
    change(workspace)
    made = watched.create()
    assert made.basis == "hints"
    assert watched.diff(made.id) == []
    for folder in [path for path in workspace.rglob("*") if path.is_dir() and not path.is_symlink()]:
        (folder / "then").write_text("still watched")
    made = watched.create()
    assert made.basis == "hints"
    assert watched.diff(made.id) == []


def test_after_a_failure_everything_is_walked(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(Settings(budget_files=12), watch=True)
    checkpoints.create()
    for number in range(20):
        (workspace / str(number)).write_text("x")
    with pytest.raises(InvalidState, match="over budget"):
        checkpoints.create()
    for number in range(15):
        (workspace / str(number)).unlink()
    made = checkpoints.create()
    assert made.basis == "walk"
    assert checkpoints.diff(made.id) == []


def test_what_changes_beside_a_restore_of_a_large_workspace_is_named(
    watched: Checkpoints, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "MANY", 0)
    saved = watched.create()
    (workspace / "a" / "file").write_text("new")
    finish = RestoreSteps.finish_folders

    def disturb(steps: RestoreSteps) -> None:
        (workspace / "b" / "file").write_text("odd")
        (workspace / "c" / "stranger").touch()
        (workspace / "c" / "d" / "file").unlink()
        finish(steps)

    monkeypatch.setattr(RestoreSteps, "finish_folders", disturb)
    done = watched.restore(saved.id)
    assert not done.verified
    assert {wrong.path: wrong.reason for wrong in done.wrong} == {
        "b/file": "has different content",
        "c/stranger": "should not be there",
        "c/d/file": "is missing",
    }


def test_a_file_that_gets_a_second_name_is_followed_by_its_first(watched: Checkpoints, workspace: Path) -> None:
    saved = watched.create()
    os.link(workspace / "a" / "file", workspace / "b" / "second")
    (workspace / "b" / "second").chmod(0o600)
    made = watched.create()
    assert (made.basis, watched.diff(made.id)) == ("hints", [])
    assert paths_since(watched, saved.id, made.id) == ["a/file", "b/second"]


def test_a_name_that_a_restore_removes_is_not_looked_for_by_its_other_names(
    watched: Checkpoints, workspace: Path
) -> None:
    os.link(workspace / "a" / "file", workspace / "b" / "second")
    saved = watched.create()
    (workspace / "new").mkdir()
    os.link(workspace / "a" / "file", workspace / "new" / "third")
    watched.create()
    before = picture(workspace)
    watched.restore(saved.id)
    done = watched.undo()
    assert (done.left_alone, done.not_covered) == ((), ())
    assert picture(workspace) == before


def test_a_file_that_was_written_to_is_not_read_through_a_link_in_its_folders_place(
    watched: Checkpoints, workspace: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("not ours")
    first = watched.create()
    (workspace / "c" / "d" / "file").write_text("new")
    (workspace / "c" / "d").rename(tmp_path / "moved")
    (workspace / "c" / "d").symlink_to(outside)
    second = watched.create()
    assert {change.path: change.kind for change in watched.diff(first.id, second.id)} == {
        "c/d": "type",
        "c/d/file": "deleted",
    }
    assert watched.diff(second.id) == []


def test_a_written_file_is_read_without_its_folder(
    watched: Checkpoints, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = watched.create()
    for name in ("a", "c/d"):
        (workspace / name / "file").write_text("new")

    def never(*_: object) -> None:
        raise AssertionError("a folder was opened")

    monkeypatch.setattr("interlock.checkpoint.folder_descent.Descent.folder", never)
    second = watched.create()
    monkeypatch.undo()
    assert paths_since(watched, first.id, second.id) == ["a/file", "c/d/file"]
    assert watched.diff(second.id) == []


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="needs a second file system")
def test_times_are_not_known_to_be_fine_on_another_file_system_than_the_stores(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as elsewhere:
        if Path(elsewhere).stat().st_dev == tmp_path.stat().st_dev:
            pytest.skip("needs a second file system")
        watch = ChangeWatcher(tmp_path / "sentinel", Path(elsewhere))
        assert not watch.fine_times
        watch.close()


def test_times_are_not_known_to_be_fine_where_changes_are_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a disk that is written to at once: even slow ticks give each change a time of its own."""
    write = os.pwrite

    def write_slowly(fd: int, data: bytes, at: int) -> int:
        time.sleep(0.002)
        return write(fd, data, at)

    monkeypatch.setattr(os, "pwrite", write_slowly)
    watch = ChangeWatcher(tmp_path / "sentinel", tmp_path)
    assert not watch.fine_times
    watch.close()


def test_a_sentinel_that_comes_late_does_not_prove_what_came_after_it(watched: Checkpoints, workspace: Path) -> None:
    queue = Queue()
    the_watch(watched).read = queue.read
    queue.trouble, queue.at = "late", 0
    (workspace / "a" / "file").write_text("new")
    assert watched.create().basis == "walk"
    (workspace / "a").chmod(0o700)
    last = watched.create()
    assert last.basis == "hints"
    assert watched.diff(last.id) == []
