"""A workspace, a store and a clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from interlock.checkpoint import Checkpoints
from interlock.config.model import Checkpoints as Settings
from interlock.core import ManualClock

Open = Callable[..., Checkpoints]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def open_checkpoints(workspace: Path, tmp_path: Path, clock: ManualClock) -> Iterator[Open]:
    """Opens the workspace's checkpoints; everything opened is closed in the end."""
    opened: list[Checkpoints] = []

    def open_one(config: Settings = Settings(), **more: object) -> Checkpoints:
        found = Checkpoints.open(workspace, tmp_path / "store", config=config, clock=clock, **more)  # type: ignore[arg-type]
        opened.append(found)
        return found

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def checkpoints(open_checkpoints: Open) -> Checkpoints:
    return open_checkpoints()
