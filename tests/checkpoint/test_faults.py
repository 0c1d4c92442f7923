"""A rollback after what makes it hard: rights taken away, a full disk, an overlay of two file systems."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from interlock.checkpoint import Checkpoints
from interlock.config.schema import Checkpoints as Settings
from interlock.core import InvalidState, ManualClock

from .conftest import Open
from .picture import picture

NOBODY = 65534


@pytest.fixture
def ordinary_user() -> Iterator[Path]:
    """A folder of an ordinary user, which we are meanwhile: root may read everything."""
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    root = os.geteuid() == 0
    if root:
        os.chown(folder, NOBODY, NOBODY)
        os.setegid(NOBODY)
        os.seteuid(NOBODY)
    yield folder
    if root:
        os.seteuid(0)
        os.setegid(0)
    subprocess.run(["chmod", "-R", "u+rwX", folder], check=True)
    shutil.rmtree(folder)


def plant(work: Path) -> None:
    for name in ("src/a.py", "src/deep/b.py", "data/c.csv", "top"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(name)
    (work / "data").chmod(0o750)


@pytest.mark.parametrize("what", ["-R a-rwx src data", "a-rwx src/deep", "a-r top data/c.csv", "-R a-rwx ."])
def test_what_was_made_unreadable_is_not_gone_and_is_restored(ordinary_user: Path, what: str) -> None:
    work = ordinary_user / "work"
    work.mkdir()
    plant(work)
    before = picture(work)
    with closing(
        Checkpoints.open(work, ordinary_user / "store", config=Settings(), clock=ManualClock())
    ) as checkpoints:
        saved = checkpoints.create()
        if what.endswith("."):
            (work / "data/new").write_text("made by the run")
        subprocess.run(f"chmod {what}", shell=True, cwd=work, check=True)
        if what.endswith("."):
            assert checkpoints.restore(saved.id).verified and picture(work) == before
            return
        after = checkpoints.settle(own=True)
        kinds = {change.path: change.kind for change in checkpoints.diff(saved.id, after.id)}
        assert "deleted" not in kinds.values() and kinds, kinds
        own = checkpoints.own_changes(saved.id)
        planned = checkpoints.preview(saved.id, own_changes=own)
        assert {change.kind for change in planned.changes} == {"mode"} and not planned.left_alone, planned
        done = checkpoints.restore(saved.id, own_changes=own)
        assert done.verified and not done.left_alone, done
        assert picture(work) == before


def test_the_workspaces_own_mode_is_restored_and_verified(open_checkpoints: Open, workspace: Path) -> None:
    plant(workspace)
    checkpoints = open_checkpoints()
    saved = checkpoints.create()
    mode = workspace.stat().st_mode
    workspace.chmod(0o777)
    done = checkpoints.restore(saved.id)
    assert done.verified, done.wrong
    assert workspace.stat().st_mode == mode


@pytest.fixture
def overlay(tmp_path: Path) -> Iterator[Path]:
    """An overlay of two file systems: each file tells its own."""
    for name in ("lower", "upper", "both"):
        (tmp_path / name).mkdir()
    plant(tmp_path / "lower")
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", tmp_path / "upper"], check=False, capture_output=True)
    for name in ("files", "work"):
        (tmp_path / "upper" / name).mkdir()
    layers = f"lowerdir={tmp_path}/lower,upperdir={tmp_path}/upper/files,workdir={tmp_path}/upper/work"
    mounted = subprocess.run(
        ["mount", "-t", "overlay", "overlay", "-o", layers, tmp_path / "both"], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("no overlay may be mounted here")
    yield tmp_path / "both"
    subprocess.run(["umount", "-l", tmp_path / "both", tmp_path / "upper"], check=True)


def test_an_overlay_of_two_file_systems_is_covered(overlay: Path, stores: Path) -> None:
    if (overlay / "top").stat().st_dev == overlay.stat().st_dev:
        pytest.skip("this kernel's overlays are one file system")
    before = picture(overlay)
    with closing(Checkpoints.open(overlay, stores / "s", config=Settings(), clock=ManualClock())) as checkpoints:
        saved = checkpoints.create()
        (overlay / "src/a.py").write_text("changed")
        (overlay / "top").unlink()
        assert checkpoints.restore(saved.id).verified
    assert picture(overlay).keys() == before.keys()
    assert (overlay / "src/a.py").read_text() == "src/a.py" and (overlay / "top").read_text() == "top"


def test_a_checkpoint_that_would_be_empty_is_an_error(workspace: Path, tmp_path: Path, open_checkpoints: Open) -> None:
    (workspace / "inner").mkdir()
    done = subprocess.run(["mount", "--bind", tmp_path, workspace / "inner"], check=False, capture_output=True)
    if done.returncode:
        pytest.skip("mounting is not possible here")
    try:
        with pytest.raises(InvalidState, match="would be empty"):
            open_checkpoints().create()
    finally:
        subprocess.run(["umount", "-l", workspace / "inner"], check=True)


def test_a_disk_that_the_run_filled_can_be_rolled_back(tmp_path: Path, small_disk: Callable[..., Path]) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    small_disk(disk, "64m")
    work = disk / "work"
    work.mkdir()
    plant(work)
    before = picture(work)
    with closing(Checkpoints.open(work, disk / "store", config=Settings(), clock=ManualClock())) as checkpoints:
        saved = checkpoints.create()
        (work / "src/a.py").write_text("changed")
        checkpoints.create(own=True)
        (work / "large").write_bytes(os.urandom(40_000_000))
        with open(work / "fill", "wb", buffering=0) as file, pytest.raises(OSError):
            while True:
                file.write(os.urandom(65_536))
        with pytest.raises(InvalidState, match="no space"):
            checkpoints.settle(own=True)
        done = checkpoints.restore(saved.id, own_changes=checkpoints.own_changes(saved.id))
        assert done.verified and not done.left_alone, done
    assert picture(work) == before
