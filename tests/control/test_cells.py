"""Every cell of (status x command x new / in flight / answered / other content), on the state machine itself."""

from __future__ import annotations

import pytest

from interlock.control import Command, Event, Executed, Received

from .cells import CELLS, play
from .owner import Owner


class InMemory:
    """A sender without any transport."""

    def __init__(self) -> None:
        self.owner = Owner()

    def do(self, event: Event) -> object:
        return self.owner.do(event)

    def say(self, data: bytes, expected: int) -> list[str]:
        self.owner.sent.clear(), self.owner.raw.clear()
        self.owner.do(Received(data, via="me"))
        return self.owner.kinds()

    def execute(self) -> list[str]:
        self.owner.sent.clear(), self.owner.raw.clear()
        self.owner.do(Executed(self.owner.asked[-1].request_id, True, "done"))
        return self.owner.kinds()

    def last_result(self) -> bytes:
        return next((raw for raw in reversed(self.owner.raw) if b'"RESULT"' in raw), b"")


@pytest.mark.parametrize(("status", "command", "case"), CELLS)
def test_cell(status: str, command: Command, case: str) -> None:
    play(InMemory(), status, command, case)
