"""Going back: previewed, limited, verified, undoable."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from interlock.checkpoint import Checkpoints
from interlock.config.schema import Checkpoints as Settings
from interlock.core import BadInput, InvalidState, NotFound

from .conftest import Open
from .picture import names, picture


def test_a_preview_says_what_would_change_and_changes_nothing(checkpoints: Checkpoints, workspace: Path) -> None:
    (workspace / "edited").write_text("one")
    (workspace / "deleted").write_text("two")
    saved = checkpoints.create()
    (workspace / "edited").write_text("three")
    (workspace / "deleted").unlink()
    (workspace / "new").mkdir()
    before = picture(workspace)
    plan = checkpoints.preview(saved.id)
    assert {(change.path, change.kind) for change in plan.changes} == {
        ("edited", "content"),
        ("deleted", "created"),
        ("new", "deleted"),
    }
    assert picture(workspace) == before
    assert len(checkpoints.list()) == 1


def test_a_restore_may_be_limited_to_paths(checkpoints: Checkpoints, workspace: Path) -> None:
    for name in ("a/one", "a/two", "ab"):
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text("old")
    saved = checkpoints.create()
    for name in ("a/one", "a/two", "ab", "a/three"):
        (workspace / name).write_text("new")
    checkpoints.restore(saved.id, ["a"])
    assert {name: (workspace / name).read_text() for name in ("a/one", "a/two", "ab")} == {
        "a/one": "old",
        "a/two": "old",
        "ab": "new",
    }
    assert not (workspace / "a/three").exists()


def test_a_path_that_is_nowhere_is_bad_input(checkpoints: Checkpoints) -> None:
    saved = checkpoints.create()
    with pytest.raises(BadInput, match="'nowhere' is neither in the checkpoint nor in the workspace"):
        checkpoints.restore(saved.id, ["nowhere"])


def test_paths_may_be_absolute_but_not_outside(checkpoints: Checkpoints, workspace: Path) -> None:
    for name in ("a", "b"):
        (workspace / name).write_text("old")
    saved = checkpoints.create()
    for name in ("a", "b"):
        (workspace / name).write_text("new")
    checkpoints.restore(saved.id, [workspace / "a"])
    assert ((workspace / "a").read_text(), (workspace / "b").read_text()) == ("old", "new")
    for path in ("../x", workspace.parent, "a/../../x"):
        with pytest.raises(BadInput, match="is outside the workspace"):
            checkpoints.restore(saved.id, [path])


def test_a_restore_cut_short_by_another_process_is_finished_before_anything_else(
    open_checkpoints: Open, workspace: Path
) -> None:
    ours = open_checkpoints()
    for number in range(20):
        (workspace / str(number)).write_text("old")
    saved = ours.create()
    expected = picture(workspace)
    for number in range(20):
        (workspace / str(number)).write_text("new")

    def die_half_way(done: int, total: int) -> None:
        if done > total * 3 // 4:
            os.kill(os.getpid(), signal.SIGKILL)

    pid = os.fork()
    if pid == 0:
        open_checkpoints().restore(saved.id, progress=die_half_way)
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    assert picture(workspace) != expected
    ours.create()
    assert [line for line in ours.recovered if "is now complete" in line]
    assert picture(workspace) == expected


def test_a_restore_is_undone_and_the_undo_too(checkpoints: Checkpoints, workspace: Path) -> None:
    (workspace / "file").write_text("one")
    saved = checkpoints.create()
    (workspace / "file").write_text("two")
    (workspace / "new").write_text("new")
    after = picture(workspace)
    checkpoints.restore(saved.id)
    before = picture(workspace)
    assert checkpoints.undo().verified
    assert picture(workspace) == after
    assert checkpoints.undo().verified
    assert picture(workspace) == before


def test_an_undo_leaves_alone_what_was_changed_since(checkpoints: Checkpoints, workspace: Path) -> None:
    for name in ("one", "two"):
        (workspace / name).write_text("old")
    saved = checkpoints.create()
    for name in ("one", "two"):
        (workspace / name).write_text("new")
    checkpoints.restore(saved.id)
    (workspace / "two").write_text("a person's")
    done = checkpoints.undo()
    assert [left.path for left in done.left_alone] == ["two"]
    assert (workspace / "one").read_text() == "new"
    assert (workspace / "two").read_text() == "a person's"


def test_without_a_rollback_there_is_nothing_to_undo(checkpoints: Checkpoints) -> None:
    with pytest.raises(NotFound, match="there is no rollback to undo"):
        checkpoints.undo()


def test_an_unknown_checkpoint_is_not_found(checkpoints: Checkpoints) -> None:
    with pytest.raises(NotFound, match="there is no checkpoint 'c99'"):
        checkpoints.restore("c99")


def test_a_checkpoint_is_found_by_its_short_id(checkpoints: Checkpoints) -> None:
    made = [checkpoints.create() for _ in range(12)]
    assert checkpoints.get("c1") == made[0]
    assert checkpoints.get(made[11].id[:-2]) == made[11]


def test_a_foreign_git_lock_stops_the_restore(checkpoints: Checkpoints, workspace: Path) -> None:
    (workspace / ".git").mkdir()
    (workspace / "file").write_text("one")
    saved = checkpoints.create()
    (workspace / "file").write_text("two")
    (workspace / ".git" / "index.lock").touch()
    with pytest.raises(InvalidState, match=r"a git command seems to be running: \.git/index\.lock exists"):
        checkpoints.restore(saved.id)
    assert (workspace / "file").read_text() == "two"
    assert checkpoints.preview(saved.id).locks == (".git/index.lock",)
    checkpoints.restore(saved.id, force=True)
    assert (workspace / "file").read_text() == "one"


def test_the_runs_own_git_lock_does_not_stop_the_restore(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(run_id="run-1")
    (workspace / ".git").mkdir()
    start = checkpoints.create()
    (workspace / ".git" / "index.lock").touch()
    checkpoints.create(own=True)
    checkpoints.restore(start.id, own_changes=checkpoints.own_changes(start.id))
    assert names(workspace / ".git") == []


def test_a_lock_in_another_repository_does_not_matter_to_a_limited_restore(
    checkpoints: Checkpoints, workspace: Path
) -> None:
    for name in ("one", "two"):
        (workspace / name / ".git").mkdir(parents=True)
        (workspace / name / "file").write_text("old")
    saved = checkpoints.create()
    (workspace / "one" / "file").write_text("new")
    (workspace / "two" / ".git" / "index.lock").touch()
    assert checkpoints.restore(saved.id, ["one"]).verified
    with pytest.raises(InvalidState, match=r"two/\.git/index\.lock"):
        checkpoints.restore(saved.id, ["two/file"])


def test_a_path_that_no_snapshot_covers_is_never_deleted(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(Settings(exclude=("secret*", "deep/keep")))
    saved = checkpoints.create()
    (workspace / "secret.txt").write_text("x")
    (workspace / "deep" / "keep").mkdir(parents=True)
    (workspace / "deep" / "keep" / "file").write_text("x")
    (workspace / "deep" / "other").write_text("x")
    done = checkpoints.restore(saved.id)
    assert (workspace / "secret.txt").exists()
    assert (workspace / "deep" / "keep" / "file").exists()
    assert not (workspace / "deep" / "other").exists()
    assert done.not_covered == (
        "deep/keep: excluded by configuration",
        "secret.txt: excluded by configuration",
    )


def test_what_is_excluded_later_is_left_alone_from_then_on(open_checkpoints: Open, workspace: Path) -> None:
    (workspace / "build").mkdir()
    (workspace / "build" / "out").write_text("one")
    (workspace / "main.c").write_text("one")
    checkpoints = open_checkpoints()
    first = checkpoints.create()
    checkpoints.close()
    checkpoints = open_checkpoints(Settings(exclude=("build",)))
    second = checkpoints.create()
    assert (second.files, second.not_covered) == (1, ("build: excluded by configuration",))
    (workspace / "build" / "out").write_text("two")
    (workspace / "main.c").write_text("two")
    done = checkpoints.restore(first.id)
    assert (workspace / "main.c").read_text() == "one"
    assert (workspace / "build" / "out").read_text() == "two"
    assert all("excluded by configuration" in left.reason for left in done.left_alone)


def test_with_exclusions_restored_files_look_new_to_make(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(Settings(exclude=("*.o",)))
    (workspace / "main.c").write_text("old")
    os.utime(workspace / "main.c", (1_000_000, 1_000_000))
    saved = checkpoints.create()
    (workspace / "main.c").write_text("new")
    (workspace / "main.o").write_text("built from new")
    assert checkpoints.restore(saved.id).verified
    assert (workspace / "main.c").stat().st_mtime >= (workspace / "main.o").stat().st_mtime


def test_a_deleted_workspace_comes_back(checkpoints: Checkpoints, workspace: Path) -> None:
    (workspace / "folder").mkdir()
    (workspace / "folder" / "file").write_text("x")
    workspace.chmod(0o750)
    saved = checkpoints.create()
    before = picture(workspace)
    shutil.rmtree(workspace)
    assert checkpoints.restore(saved.id).verified
    assert picture(workspace) == before
    assert workspace.stat().st_mode & 0o777 == 0o750


def test_extended_attributes_come_back(checkpoints: Checkpoints, workspace: Path) -> None:
    path = workspace / "file"
    path.write_text("x")
    try:
        os.setxattr(path, "user.note", b"kept")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    saved = checkpoints.create()
    os.removexattr(path, "user.note")
    os.setxattr(path, "user.other", b"new")
    assert [change.kind for change in checkpoints.diff(saved.id)] == ["attributes"]
    assert checkpoints.restore(saved.id).verified
    assert {name: os.getxattr(path, name) for name in os.listxattr(path)} == {"user.note": b"kept"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_owners_come_back(checkpoints: Checkpoints, workspace: Path) -> None:
    (workspace / "file").write_text("x")
    os.chown(workspace / "file", 1234, 5678)
    saved = checkpoints.create()
    (workspace / "file").unlink()
    (workspace / "file").write_text("y")
    assert checkpoints.restore(saved.id).verified
    found = (workspace / "file").stat()
    assert (found.st_uid, found.st_gid) == (1234, 5678)


def test_after_a_restore_the_next_checkpoint_descends_from_the_one_restored(
    checkpoints: Checkpoints, workspace: Path
) -> None:
    first, second = checkpoints.create(), checkpoints.create()
    assert second.parent == first.id
    checkpoints.restore(first.id)
    assert checkpoints.create().parent == first.id
