"""A workspace that is as its newest checkpoint is known again by its fingerprint, and nothing is loaded for it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.checkpoint import Checkpoints, scan
from interlock.config.model import Checkpoints as Settings

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
