"""A workspace that is as its newest checkpoint is known again by its fingerprint, and nothing is loaded for it."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.checkpoint import Checkpoints, fingerprint, scan
from interlock.checkpoint.entry import TreeEntry
from interlock.checkpoint.locations import ExclusionPolicy
from interlock.checkpoint.tree import WorkspaceTree
from interlock.config.schema import Checkpoints as Settings

from .conftest import Open
from .picture import picture


def walks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Notes every load of a tree."""
    seen: list[str] = []
    load = Checkpoints.__init__.__globals__["Snapshots"]._refresh

    def note(self: object) -> None:
        seen.append("loaded")
        load(self)

    monkeypatch.setattr("interlock.checkpoint.snapshot.Snapshots._refresh", note)
    monkeypatch.setattr(Checkpoints, "_warm_up", lambda self: None)
    return seen


@pytest.fixture
def known(open_checkpoints: Open, workspace: Path) -> Open:
    """A workspace whose last run has ended."""
    for name in ("a", "c/d"):
        (workspace / name).mkdir(parents=True)
        (workspace / name / "file").write_text("old")
    (workspace / "link").symlink_to("a")
    os.mkfifo(workspace / "pipe")
    (workspace / "c" / "left-out.log").write_text("x")
    time.sleep(scan.FRESH_NS / 1e9 * 2)
    with open_checkpoints(Settings(exclude=("*.log",)), run_id="run-1", watch=True) as first:
        first.create("", 0, "start")
        first.settle()
    return open_checkpoints


def test_a_run_starts_at_once_on_an_unchanged_workspace(
    known: Open, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = walks(monkeypatch)
    (workspace / "c" / "left-out.log").write_text("what is excluded does not count")
    checkpoints = known(Settings(exclude=("*.log",)), run_id="run-2", watch=True)
    start = checkpoints.create("", 0, "start")
    assert loads == []
    assert (start.run_id, start.files) == ("run-2", 3)
    (workspace / "a" / "file").write_text("new")
    (workspace / "c" / "new").mkdir()
    after = checkpoints.create("", 1, "after step", own=True)
    assert [change.path for change in checkpoints.diff(start.id, after.id)] == ["a/file", "c/new"]
    assert checkpoints.restore(checkpoints.default_target("run-2").id).verified
    assert (workspace / "a" / "file").read_text() == "old"


def test_a_start_does_not_wait_for_the_walk_alongside_the_command(known: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    started, returned = threading.Event(), threading.Event()

    def walk(_: object) -> None:
        started.set()
        assert returned.wait(150)

    monkeypatch.setattr("interlock.checkpoint.snapshot.Snapshots.warm_up", walk)
    start = threading.Thread.start

    def start_and_wait(thread: threading.Thread) -> None:
        start(thread)
        if thread.name == "checkpoint-warm-up":
            assert started.wait(150), "it has the lock now"

    monkeypatch.setattr(threading.Thread, "start", start_and_wait)
    with known(Settings(exclude=("*.log",)), run_id="run-2", watch=True) as checkpoints:
        making = threading.Thread(target=lambda: checkpoints.create("", 0, "start"))
        making.start()
        making.join(150)
        was_made = not making.is_alive()
        returned.set()
        making.join()
    assert was_made


@pytest.mark.parametrize(
    "change",
    [
        lambda w: (w / "a" / "file").write_text("new"),
        lambda w: os.utime(w / "c" / "d" / "file", ns=(10**18, 10**18)),
        lambda w: (w / "c" / "d").chmod(0o700),
        lambda w: w.chmod(0o711),
        lambda w: (w / "a" / "file").rename(w / "a" / "other"),
        lambda w: (w / "c" / "new").touch(),
        lambda w: (w / "a" / "file").unlink(),
        lambda w: ((w / "link").unlink(), (w / "link").symlink_to("c")),
    ],
)
def test_whatever_changed_in_between_is_found(known: Open, workspace: Path, change: Callable[[Path], object]) -> None:
    change(workspace)
    expected = picture(workspace)
    checkpoints = known(Settings(exclude=("*.log",)), run_id="run-2", watch=True)
    start = checkpoints.create("", 0, "start")
    assert checkpoints.diff(start.id) == []
    (workspace / "a" / "file").write_text("by the run")
    checkpoints.restore(start.id)
    assert {path: found[:3] for path, found in picture(workspace).items()} == {
        path: found[:3] for path, found in expected.items()
    }


def test_another_policy_makes_everything_be_read(known: Open, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads = walks(monkeypatch)
    assert known(run_id="run-2", watch=True).create("", 0, "start").files == 4
    assert loads


def test_what_a_command_does_while_the_watch_is_set_up_is_found(known: Open, workspace: Path) -> None:
    checkpoints = known(Settings(exclude=("*.log",)), run_id="run-2", watch=True)
    start = checkpoints.create("", 0, "start")
    expected = picture(workspace)
    (workspace / "c" / "new" / "deep").mkdir(parents=True)
    (workspace / "c" / "new" / "deep" / "file").write_text("at once")
    (workspace / "a" / "file").unlink()
    checkpoints._warm_up()
    (workspace / "c" / "new" / "deep" / "more").write_text("later")
    made = checkpoints.create("", 1, "meanwhile", own=True)
    assert made.basis == "hints"
    assert checkpoints.diff(made.id) == []
    checkpoints.restore(start.id)
    assert picture(workspace).keys() == expected.keys()


def tree_of(workspace: Path) -> WorkspaceTree:
    """The tree of a workspace, by what the system says of each path."""
    tree = WorkspaceTree()
    for place, folders, files in os.walk(workspace):
        above = os.path.relpath(place, workspace)
        listing = {name: Path(place, name).lstat() for name in (*folders, *files)}
        tree.folders["" if above == "." else above] = {
            name: TreeEntry(seen.st_mode, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, 0)
            for name, seen in listing.items()
        }
    return tree


def test_find_and_a_walk_say_the_same_of_every_name(workspace: Path) -> None:
    for name in ("plain", "-delete", "( odd", "new\nline", "tab\t", "\udcff", "ü", "%p\\0"):
        (workspace / name).mkdir()
        (workspace / name / name).write_text(name.encode("utf-8", "surrogateescape").hex())
    (workspace / "plain" / "link").symlink_to("nowhere")
    (workspace / "plain" / "run").touch(mode=0o755)
    (workspace / "plain" / "run").chmod(0o4711)
    os.utime(workspace / "plain" / "run", ns=(1, 1_000_000_005))
    for number in range(fingerprint.DEALT * 2):
        (workspace / "many" / str(number) / "deep").mkdir(parents=True)
        (workspace / "many" / str(number) / "deep" / "file").touch()
    root = os.open(workspace, os.O_RDONLY)
    try:
        by_find = fingerprint.of_disk(root, ExclusionPolicy(), ())
        by_walk = fingerprint.of_disk(root, ExclusionPolicy(("nothing is named so",)), ())
        listed = fingerprint.list_all(root)
    finally:
        os.close(root)
    assert by_find == by_walk
    assert listed is not None and sorted(listed) == sorted(fingerprint.records_of(tree_of(workspace)))


@pytest.mark.parametrize(
    "change",
    [
        lambda w: (w / "a" / "file").write_text("new"),
        lambda w: os.utime(w / "c" / "d" / "file", ns=(10**18, 10**18)),
        lambda w: (w / "c" / "d").chmod(0o700),
        lambda w: (w / "a" / "file").rename(w / "a" / "other"),
        lambda w: os.mkfifo(w / "c" / "pipe"),
        lambda w: ((w / "link").unlink(), (w / "link").symlink_to("c")),
        lambda w: None,
    ],
)
def test_find_misses_no_change(
    open_checkpoints: Open, workspace: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]
) -> None:
    for name in ("a", "c/d"):
        (workspace / name).mkdir(parents=True)
        (workspace / name / "file").write_text("old")
    (workspace / "link").symlink_to("a")
    time.sleep(scan.FRESH_NS / 1e9 * 2)
    with open_checkpoints(run_id="run-1", watch=True) as first:
        first.create("", 0, "start")
        first.settle()
    before = picture(workspace)
    change(workspace)
    loads = walks(monkeypatch)
    checkpoints = open_checkpoints(run_id="run-2", watch=True)
    start = checkpoints.create("", 0, "start")
    assert bool(loads) == (picture(workspace) != before)
    assert checkpoints.diff(start.id) == []


def test_without_find_everything_is_looked_at_here(
    open_checkpoints: Open, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "file").write_text("old")
    time.sleep(scan.FRESH_NS / 1e9 * 2)
    with open_checkpoints(run_id="run-1", watch=True) as first:
        first.create("", 0, "start")
        first.settle()
    monkeypatch.setattr(fingerprint, "FIND", workspace / "there is none")
    loads = walks(monkeypatch)
    checkpoints = open_checkpoints(run_id="run-2", watch=True)
    start = checkpoints.create("", 0, "start")
    assert loads == []
    (workspace / "file").write_text("new")
    assert checkpoints.restore(start.id).verified
    assert (workspace / "file").read_text() == "old"


def test_a_changing_call_takes_no_more_work_in_a_larger_workspace(open_checkpoints: Open, workspace: Path) -> None:
    """Counted are the calls into the system and the libraries, not the time."""

    def work_of_a_call(folders: range) -> int:
        for number in folders:
            (workspace / str(number)).mkdir()
            for name in range(10):
                (workspace / str(number) / f"f{name}").write_text("old")
        checkpoints = open_checkpoints(run_id="run-1", watch=True)
        checkpoints.create("", 0, "start")
        counted = [0]

        def count(frame: object, event: str, what: object) -> None:
            counted[0] += event == "c_call"

        least = 10**9
        for step in range(5):
            checkpoints.create("", step, "before step")
            for number in range(5):
                (workspace / str(number) / "f0").write_text(f"{step} in {folders}")
            counted[0] = 0
            sys.setprofile(count)
            try:
                made = checkpoints.create("", step, "after step", own=True)
            finally:
                sys.setprofile(None)
            assert made.basis == "hints"
            least = min(least, counted[0])
        checkpoints.close()
        return least

    small = work_of_a_call(range(10))
    large = work_of_a_call(range(10, 200))
    assert large <= small * 1.3, (small, large)
