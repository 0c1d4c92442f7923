"""Every cell of the protocol, and the worked cases, on a real socket with a real journal."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.control import Command

from ..control.cells import CELLS, play
from .owned import Owned, SocketSender


@pytest.mark.parametrize(("status", "command", "case"), CELLS)
def test_cell_on_the_socket(quick_root: Path, status: str, command: Command, case: str) -> None:
    with Owned(quick_root) as owned:
        sender = SocketSender(owned)
        play(sender, status, command, case)
        sender.close()
