"""A workspace, a store and a clock."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from interlock.checkpoint import Checkpoints
from interlock.config.schema import Checkpoints as Settings
from interlock.core import ManualClock

Open = Callable[..., Checkpoints]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def stores() -> Iterator[Path]:
    """Where checkpoints are kept: in memory where there is such a place, for a test need not wait for a disk."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="stores-", dir=memory if os.access(memory, os.W_OK) else None))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def open_checkpoints(workspace: Path, stores: Path, clock: ManualClock) -> Iterator[Open]:
    """Opens the workspace's checkpoints; everything opened is closed in the end."""
    opened: list[Checkpoints] = []

    def open_one(config: Settings | None = None, **more: object) -> Checkpoints:
        config = config or Settings()
        found = Checkpoints.open(workspace, stores, config=config, clock=clock, **more)  # type: ignore[arg-type]
        opened.append(found)
        return found

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def checkpoints(open_checkpoints: Open) -> Checkpoints:
    return open_checkpoints()


@pytest.fixture
def small_disk() -> Iterator[Callable[..., Path]]:
    """Mounts small file systems in memory; skipped where mounting is not possible."""
    mounted: list[Path] = []

    def mount(where: Path, size: str = "8m") -> Path:
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", where], capture_output=True)
        if done.returncode:
            pytest.skip(f"mounting is not possible here: {done.stderr.decode().strip()}")
        mounted.append(where)
        return where

    yield mount
    for where in mounted:
        # The test may have done it.
        subprocess.run(["umount", "--lazy", where], check=False, stderr=subprocess.DEVNULL)
