"""A workspace that was deleted as a whole: its checkpoints know it, and a rollback makes it again."""

from __future__ import annotations

import shutil
import stat
from contextlib import closing
from pathlib import Path

import pytest

from interlock.checkpoint import Checkpoints
from interlock.config.schema import Checkpoints as Settings
from interlock.core import InvalidState, ManualClock

from .conftest import Open
from .picture import names, picture


def fill(workspace: Path) -> None:
    (workspace / "folder" / "deep").mkdir(parents=True)
    (workspace / "folder" / "deep" / "file").write_text("old")
    (workspace / "file").write_text("old")
    workspace.chmod(0o710)


def test_a_run_that_deleted_its_workspace_is_taken_back_and_the_folder_is_made_again(
    open_checkpoints: Open, workspace: Path
) -> None:
    checkpoints = open_checkpoints(run_id="run-1")
    fill(workspace)
    start = checkpoints.create("start")
    before = picture(workspace)
    shutil.rmtree(workspace)
    gone = checkpoints.create("after a step", own=True)
    assert gone.files == 0
    done = checkpoints.restore(start.id, own_changes=checkpoints.own_changes(start.id))
    assert done.verified and done.left_alone == ()
    assert picture(workspace) == before
    assert stat.S_IMODE(workspace.stat().st_mode) == 0o710


def test_what_a_run_deleted_with_its_workspace_comes_back_where_a_person_made_the_folder_anew(
    open_checkpoints: Open, workspace: Path
) -> None:
    checkpoints = open_checkpoints(run_id="run-1")
    fill(workspace)
    start = checkpoints.create("start")
    shutil.rmtree(workspace)
    checkpoints.create("after a step", own=True)
    workspace.mkdir()
    (workspace / "persons").write_text("mine")
    done = checkpoints.restore(start.id, own_changes=checkpoints.own_changes(start.id))
    assert [left.path for left in done.left_alone] == ["persons"]
    assert names(workspace) == ["file", "folder", "persons"]


def test_a_workspace_that_somebody_else_deleted_is_not_the_runs_work(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(run_id="run-1")
    fill(workspace)
    start = checkpoints.create("start")
    shutil.rmtree(workspace)
    checkpoints.create("before a step")
    done = checkpoints.restore(start.id, own_changes=checkpoints.own_changes(start.id))
    assert [left.path for left in done.left_alone] == ["file", "folder", "folder/deep", "folder/deep/file"]
    assert checkpoints.restore(start.id).verified
    assert names(workspace) == ["file", "folder"]


def test_the_rollback_of_a_deleted_workspace_can_be_undone_and_done_again(
    checkpoints: Checkpoints, workspace: Path
) -> None:
    fill(workspace)
    start = checkpoints.create("start")
    before = picture(workspace)
    shutil.rmtree(workspace)
    assert [change.kind for change in checkpoints.preview(start.id).changes] == ["created"] * 4
    assert "deleted file" in checkpoints.patch(start.id)
    checkpoints.restore(start.id)
    assert checkpoints.undo().verified and names(workspace) == []
    assert checkpoints.undo().verified and picture(workspace) == before
    assert checkpoints.verify().problems == ()


def test_a_folder_above_that_is_gone_too_is_made_again(tmp_path: Path, stores: Path, clock: ManualClock) -> None:
    workspace = tmp_path / "above" / "work"
    workspace.mkdir(parents=True)
    with Checkpoints.open(workspace, stores, config=Settings(), clock=clock) as checkpoints:
        fill(workspace)
        saved = checkpoints.create()
        shutil.rmtree(tmp_path / "above")
        assert checkpoints.restore(saved.id).verified
    assert names(workspace) == ["file", "folder"]


def test_a_link_in_the_place_of_the_workspace_is_refused(
    tmp_path: Path, checkpoints: Checkpoints, workspace: Path
) -> None:
    fill(workspace)
    saved = checkpoints.create()
    workspace.rename(tmp_path / "elsewhere")
    workspace.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidState, match="not a link"):
        checkpoints.create()
    with pytest.raises(InvalidState, match="not a link"):
        checkpoints.restore(saved.id)


def test_a_workspace_that_cannot_be_reached_is_not_taken_for_a_deleted_one(tmp_path: Path, stores: Path) -> None:
    """A link that leads to itself stands for a disk that answers with an error."""
    disk, away = tmp_path / "disk", tmp_path / "away"
    (disk / "work").mkdir(parents=True)
    (disk / "work" / "file").write_text("here")
    with closing(Checkpoints.open(disk / "work", stores, config=Settings(), clock=ManualClock())) as checkpoints:
        saved = checkpoints.create()
        disk.rename(away)
        disk.symlink_to("disk")
        with pytest.raises(InvalidState, match="cannot be opened"):
            checkpoints.create()
        disk.unlink()
        away.rename(disk)
        assert checkpoints.create().files == saved.files == 1
