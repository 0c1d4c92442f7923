"""What is mounted inside a workspace is not covered, be it a part of the same file system, and is left alone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from interlock.checkpoint.locations import mounts_inside

from .conftest import Open

Bind = Callable[[Path, Path], None]


@pytest.fixture
def bind() -> Iterator[Bind]:
    """Mounts one place at another; skipped where mounting is not possible."""
    mounted: list[Path] = []

    def mount(source: Path, where: Path) -> None:
        done = subprocess.run(["mount", "--bind", source, where], capture_output=True)
        if done.returncode:
            pytest.skip(f"mounting is not possible here: {done.stderr.decode().strip()}")
        mounted.append(where)

    yield mount
    for where in mounted:
        subprocess.run(["umount", "--lazy", where], check=True)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "file").write_text("not ours")
    return folder


@pytest.mark.parametrize("watch", [False, True])
def test_a_bind_mount_is_not_covered_and_a_rollback_leaves_it_alone(
    open_checkpoints: Open, workspace: Path, elsewhere: Path, bind: Bind, watch: bool
) -> None:
    (workspace / "in side").mkdir()
    (workspace / "one").write_text("old")
    os.link(workspace / "one", workspace / "two")
    (workspace / "mounted file").touch()
    bind(elsewhere, workspace / "in side")
    bind(elsewhere / "file", workspace / "mounted file")
    checkpoints = open_checkpoints(watch=watch)
    saved = checkpoints.create()
    assert saved.not_covered == ("in side: mounted from elsewhere", "mounted file: mounted from elsewhere")
    (workspace / "in side" / "file").write_text("changed there")
    (workspace / "one").write_text("new")
    made = checkpoints.create()
    assert made.basis == ("hints" if watch else "walk")
    done = checkpoints.restore(saved.id)
    assert done.verified
    assert (workspace / "one").read_text() == "old"
    assert (elsewhere / "file").read_text() == "changed there"


def test_a_mount_that_comes_later_is_noticed(
    open_checkpoints: Open, workspace: Path, elsewhere: Path, bind: Bind
) -> None:
    (workspace / "inside").mkdir()
    (workspace / "inside" / "mine").write_text("below it")
    (workspace / "own").touch()
    checkpoints = open_checkpoints(watch=True)
    saved = checkpoints.create()
    bind(elsewhere, workspace / "inside")
    made = checkpoints.create()
    assert (made.basis, made.not_covered) == ("walk", ("inside: mounted from elsewhere",))
    assert checkpoints.restore(saved.id).verified
    assert (elsewhere / "file").read_text() == "not ours"


def test_mount_points_are_read_with_their_escapes(tmp_path: Path) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "23 22 8:1 /x /srv/a\\040b rw - ext4 /dev/sda1 rw\n"
        "24 22 0:5 / /srvshop rw - tmpfs tmpfs rw\n"
    )
    assert mounts_inside("/srv", str(table)) == {"a b"}
