"""Pipes, sockets and devices in a workspace: never opened, never saved, never lost, and said."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.checkpoint import Checkpoints

from .picture import names

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may do this")


def plant_fifo(path: Path) -> None:
    os.mkfifo(path)


def plant_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


def plant_device(path: Path) -> None:
    os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))


SPECIAL = pytest.mark.parametrize(
    ("plant", "word"),
    [(plant_fifo, "a FIFO"), (plant_socket, "a socket"), pytest.param(plant_device, "a device", marks=needs_root)],
)


@SPECIAL
def test_a_special_file_is_not_opened_not_saved_and_said(
    checkpoints: Checkpoints, workspace: Path, plant: Callable[[Path], None], word: str
) -> None:
    plant(workspace / "special")
    assert checkpoints.create().not_covered == (f"special: {word}",)


@SPECIAL
def test_a_special_file_in_a_files_place_stays_unless_told_otherwise(
    checkpoints: Checkpoints, workspace: Path, plant: Callable[[Path], None], word: str
) -> None:
    (workspace / "file").write_text("mine")
    saved = checkpoints.create()
    (workspace / "file").unlink()
    plant(workspace / "file")
    done = checkpoints.restore(saved.id)
    assert [(left.path, word in left.reason) for left in done.left_alone] == [("file", True)]
    done = checkpoints.restore(saved.id, force=True)
    assert done.verified and not done.left_alone
    assert (workspace / "file").read_text() == "mine"


@SPECIAL
def test_a_special_file_that_is_new_is_named_as_left_alone(
    checkpoints: Checkpoints, workspace: Path, plant: Callable[[Path], None], word: str
) -> None:
    plant(workspace / "old")
    saved = checkpoints.create()
    plant(workspace / "special")
    named = [("special", f"no checkpoint covers it now ({word})")]
    assert [(left.path, left.reason) for left in checkpoints.preview(saved.id).left_alone] == named
    assert [(left.path, left.reason) for left in checkpoints.restore(saved.id).left_alone] == named
    assert names(workspace) == ["old", "special"]


@SPECIAL
def test_a_special_file_in_a_new_folder_keeps_the_folder(
    checkpoints: Checkpoints, workspace: Path, plant: Callable[[Path], None], word: str
) -> None:
    saved = checkpoints.create()
    (workspace / "new").mkdir()
    (workspace / "new" / "file").write_text("x")
    plant(workspace / "new" / "special")
    done = checkpoints.restore(saved.id)
    assert [left.path for left in done.left_alone] == ["new", "new/special"]
    assert names(workspace / "new") == ["special"]
    assert done.not_covered == (f"new/special: {word}",)


@pytest.mark.parametrize("plant", [plant_fifo, plant_socket])
def test_a_fifo_or_socket_that_the_run_put_in_a_files_place_is_replaced_by_the_file(
    checkpoints: Checkpoints, workspace: Path, plant: Callable[[Path], None]
) -> None:
    (workspace / "file").write_text("mine")
    saved = checkpoints.create()
    (workspace / "file").unlink()
    plant(workspace / "file")
    checkpoints.settle(own=True)
    done = checkpoints.restore(saved.id, own_changes=checkpoints.own_changes(saved.id))
    assert done.verified and not done.left_alone
    assert (workspace / "file").read_text() == "mine"
