"""What an agent may plant in a workspace: handled, nothing outside touched, and said in plain words."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.checkpoint import Checkpoints, content_intake
from interlock.config.schema import Checkpoints as Settings
from interlock.core import InvalidState

from .conftest import Open
from .picture import picture


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "precious").write_text("precious")
    (folder / "precious").chmod(0o600)
    return folder


def test_a_file_replaced_by_a_link_comes_back_and_its_target_is_not_touched(
    checkpoints: Checkpoints, workspace: Path, outside: Path
) -> None:
    (workspace / "file").write_text("mine")
    saved = checkpoints.create()
    before = picture(outside)
    (workspace / "file").unlink()
    (workspace / "file").symlink_to(outside / "precious")
    done = checkpoints.restore(saved.id)
    assert done.verified
    assert (workspace / "file").read_text() == "mine"
    assert not (workspace / "file").is_symlink()
    assert picture(outside) == before


def test_a_folder_replaced_by_a_link_comes_back_and_its_target_is_not_touched(
    checkpoints: Checkpoints, workspace: Path, outside: Path
) -> None:
    (workspace / "folder").mkdir()
    (workspace / "folder" / "precious").write_text("mine")
    saved = checkpoints.create()
    before = picture(outside)
    (workspace / "folder" / "precious").unlink()
    (workspace / "folder").rmdir()
    (workspace / "folder").symlink_to(outside)
    done = checkpoints.restore(saved.id)
    assert done.verified
    assert (workspace / "folder" / "precious").read_text() == "mine"
    assert picture(outside) == before


def test_a_link_is_saved_as_a_link_and_never_followed(checkpoints: Checkpoints, workspace: Path, outside: Path) -> None:
    (workspace / "way-out").symlink_to(outside)
    saved = checkpoints.create()
    assert (saved.files, saved.bytes) == (1, len(str(outside)))


@pytest.mark.parametrize("moment", range(1, 5))
def test_a_parent_swapped_during_the_restore_leads_nowhere(
    checkpoints: Checkpoints, workspace: Path, outside: Path, moment: int
) -> None:
    (workspace / "folder").mkdir()
    for name in ("precious", "second"):
        (workspace / "folder" / name).write_text("mine")
    saved = checkpoints.create()
    for name in ("precious", "second"):
        (workspace / "folder" / name).write_text("changed")
    (outside / "second").write_text("second")
    before = picture(outside)
    calls = 0

    def swap(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == moment:
            (workspace / "folder").rename(workspace / "moved")
            (workspace / "folder").symlink_to(outside)

    done = checkpoints.restore(saved.id, progress=swap)
    assert picture(outside) == before
    assert calls >= moment
    assert done.left_alone or not done.verified


def test_a_second_name_of_a_file_outside_is_replaced_not_changed(
    checkpoints: Checkpoints, workspace: Path, outside: Path
) -> None:
    (workspace / "file").write_text("precious")
    (workspace / "file").chmod(0o777)
    saved = checkpoints.create()
    before = picture(outside)
    (workspace / "file").unlink()
    os.link(outside / "precious", workspace / "file")
    done = checkpoints.restore(saved.id)
    assert done.verified
    assert stat.S_IMODE((workspace / "file").stat().st_mode) == 0o777
    assert picture(outside) == before


def test_ten_gigabytes_of_holes_cost_nothing(checkpoints: Checkpoints, workspace: Path, stores: Path) -> None:
    path = workspace / "sparse"
    with open(path, "wb") as file:
        file.seek(5 * 1024**3)
        file.write(b"in the middle")
        file.truncate(10 * 1024**3)
    saved = checkpoints.create()
    assert saved.bytes == 10 * 1024**3
    path.unlink()
    assert checkpoints.restore(saved.id).verified
    with open(path, "rb") as file:
        file.seek(5 * 1024**3)
        assert file.read(14) == b"in the middle\0"
    found = path.stat()
    assert found.st_size == 10 * 1024**3
    assert found.st_blocks * 512 < 10 * 1024**2
    stored = sum(item.stat().st_blocks * 512 for item in stores.rglob("*") if item.is_file())
    assert stored < 10 * 1024**2


def as_nobody(act: Callable[[], None]) -> None:
    """Run as a user without special rights, in a child where we are root."""
    if os.geteuid() != 0:
        act()
        return
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            act()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0


def give_away(*paths: Path) -> None:
    if os.geteuid() == 0:
        for path in paths:
            os.chown(path, 65534, 65534)


@pytest.fixture
def open_to_nobody(tmp_path: Path) -> None:
    """pytest's own folders are closed to others."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o005 != 0o005:
            folder.chmod(0o755)


def test_a_folder_without_permission_is_said_and_left_alone(
    workspace: Path, stores: Path, open_checkpoints: Open, open_to_nobody: None
) -> None:
    (workspace / "closed").mkdir()
    (workspace / "closed" / "inside").write_text("x")
    (workspace / "unreadable").write_text("x")
    (workspace / "file").write_text("one")
    give_away(workspace, stores, *workspace.rglob("*"))
    (workspace / "closed").chmod(0)
    (workspace / "unreadable").chmod(0)

    def act() -> None:
        with open_checkpoints() as checkpoints:
            saved = checkpoints.create()
            assert saved.not_covered == (
                "closed: no permission to read",
                "unreadable: no permission to read",
            )
            (workspace / "file").write_text("two")
            done = checkpoints.restore(saved.id)
            assert done.verified
            assert (workspace / "file").read_text() == "one"

    try:
        as_nobody(act)
    finally:
        (workspace / "closed").chmod(0o700)
    assert (workspace / "closed" / "inside").read_text() == "x"
    assert (workspace / "unreadable").exists()


def test_a_folder_that_may_not_be_written_gets_its_files_and_its_mode_back(
    workspace: Path, stores: Path, open_checkpoints: Open, open_to_nobody: None
) -> None:
    folder = workspace / "read-only"
    folder.mkdir()
    (folder / "file").write_text("one")
    give_away(workspace, folder, folder / "file", stores)
    folder.chmod(0o555)

    def act() -> None:
        with open_checkpoints() as checkpoints:
            saved = checkpoints.create()
            before = picture(workspace)
            folder.chmod(0o755)
            (folder / "file").unlink()
            (folder / "other").write_text("x")
            folder.chmod(0o555)
            assert checkpoints.restore(saved.id).verified
            assert picture(workspace) == before

    as_nobody(act)


ROLLS_BACK_AND_FORTH = """
import sys
from pathlib import Path
from interlock.checkpoint import Checkpoints
from interlock.config.schema import Checkpoints as Settings
from interlock.core import SystemClock
workspace, store = map(Path, sys.argv[1:])
with Checkpoints.open(workspace, store, config=Settings(), clock=SystemClock()) as checkpoints:
    saved = checkpoints.create()
    folder = workspace / "read-only"
    folder.mkdir()
    (folder / "file").write_text("one")
    folder.chmod(0o555)
    for moment in (checkpoints.restore(saved.id), checkpoints.undo(), checkpoints.undo()):
        assert moment.verified and not moment.left_alone, moment
    assert not folder.exists()
"""


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root and setpriv")
def test_root_without_its_capabilities_removes_a_folder_that_may_not_be_written(workspace: Path, stores: Path) -> None:
    weak = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"]
    words = [sys.executable, "-c", ROLLS_BACK_AND_FORTH, str(workspace), str(stores)]
    done = subprocess.run([*weak, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_very_large_folder_stops_at_the_budget(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(Settings(budget_files=100))
    (workspace / "huge").mkdir()
    for number in range(101):
        (workspace / "huge" / str(number)).touch()
    with pytest.raises(
        InvalidState, match=r"huge: more than 100 files to save, which is over budget\. Exclude folders"
    ):
        checkpoints.create()
    assert checkpoints.list() == []


def test_a_file_that_changes_while_it_is_read_is_said_and_left_alone(
    checkpoints: Checkpoints, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = workspace / "busy"
    path.write_text("0")
    really = os.pread
    writes = 0

    def read_and_write(fd: int, size: int, at: int) -> bytes:
        nonlocal writes
        content = really(fd, size, at)
        writes += 1
        path.write_text(f"written {writes} times")
        return content

    monkeypatch.setattr(content_intake.os, "pread", read_and_write)
    saved = checkpoints.create()
    monkeypatch.undo()
    assert saved.not_covered == ("busy: changed while it was read",)
    checkpoints.create()
    done = checkpoints.restore(saved.id)
    assert path.read_text() == f"written {writes} times"
    assert [left.path for left in done.left_alone] == ["busy"]


def test_a_file_that_changes_once_while_it_is_read_is_read_again(
    checkpoints: Checkpoints, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = workspace / "busy"
    path.write_text("before")
    really = os.pread

    def read_and_write(fd: int, size: int, at: int) -> bytes:
        content = really(fd, size, at)
        monkeypatch.undo()
        path.write_text("after it")
        return content

    monkeypatch.setattr(content_intake.os, "pread", read_and_write)
    saved = checkpoints.create()
    assert saved.not_covered == ()
    path.write_text("something else")
    checkpoints.restore(saved.id)
    assert path.read_text() == "after it"


def test_a_very_deep_tree_is_bounded_and_said(checkpoints: Checkpoints, workspace: Path) -> None:
    at = os.open(workspace, os.O_RDONLY)
    for _ in range(700):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    saved = checkpoints.create()
    assert [line.rpartition(": ")[2] for line in saved.not_covered] == ["deeper than 512 folders"]
    assert checkpoints.restore(saved.id).verified


def test_a_workspace_replaced_by_a_link_is_refused(checkpoints: Checkpoints, workspace: Path, outside: Path) -> None:
    saved = checkpoints.create()
    workspace.rmdir()
    workspace.symlink_to(outside)
    for act in (checkpoints.create, lambda: checkpoints.restore(saved.id)):
        with pytest.raises(InvalidState, match="It must be a folder, not a link"):
            act()


def test_another_file_system_inside_is_not_entered(
    checkpoints: Checkpoints, workspace: Path, small_disk: Callable[..., Path]
) -> None:
    (workspace / "mounted").mkdir()
    (workspace / "own").touch()
    (small_disk(workspace / "mounted") / "file").write_text("x")
    saved = checkpoints.create()
    assert saved.not_covered == ("mounted: another file system",)
    assert checkpoints.restore(saved.id).verified
    assert (workspace / "mounted" / "file").read_text() == "x"
