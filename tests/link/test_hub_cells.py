"""Every cell of the protocol, through a real broker."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.control import Command

from ..control import cells
from .broker import Broker
from .hub_sender import HubSender
from .owned import Owned


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    shared = Path("/dev/shm")
    place = tempfile.TemporaryDirectory(prefix="il-", dir=shared if shared.is_dir() else None)
    with place as store, Broker(Path(store)) as running:
        yield running


@pytest.mark.parametrize("status", cells.STATUSES)
@pytest.mark.parametrize("case", cells.CASES)
def test_cells_on_the_hub(broker: Broker, quick_root: Path, status: str, case: str) -> None:
    for command in cells.COMMANDS:
        play_one(broker, quick_root / command, status, command, case)


def play_one(broker: Broker, root: Path, status: str, command: Command, case: str) -> None:
    run_id = f"{status}-{command}-{case}".replace(" ", "-")
    with Owned(root, run_id=run_id, frame_id="run-1") as owned:
        sender = HubSender(owned, broker.settings)
        cells.play(sender, status, command, case)
        sender.close()
