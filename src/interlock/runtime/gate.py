"""Gate: every step passes here; shut, it lets nothing through until a person says so."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from ..core import ENDED, PROCEED, Decision, Status, Step


class Gate:
    """Open, pausing or shut, fenced by revision: an order older than what the gate has is ignored.

    The gate in memory answers the steps of this process. `on_change` makes the order durable (the gate file)
    before it is obeyed, so that a hook client finds it also when no owner lives.
    """

    def __init__(self, status: Status = "running", revision: int = 0) -> None:
        self._condition = threading.Condition()
        self._status: Status = status
        self._revision = revision
        self._inside = 0
        self._wakers: list[Callable[[], None]] = []
        self.on_change: Callable[[Status, int], None] | None = None

    @property
    def status(self) -> Status:
        return self._status

    @property
    def revision(self) -> int:
        return self._revision

    def be(self, status: Status, revision: int) -> bool:
        """Be in this state; False where the order is older than what the gate has."""
        with self._condition:
            if revision < self._revision:
                return False
            if self.on_change is not None:
                self.on_change(status, revision)
            self._status, self._revision = status, revision
            self._condition.notify_all()
            if self._open():
                for wake in self._wakers:
                    wake()
            return True

    def enter(self, step: Step) -> Decision:
        """May this step start? Never waits: a hold is a value that the adapter waits on."""
        with self._condition:
            if self._status == "running":
                self._inside += 1
                return PROCEED
            if self._status in ENDED:
                return Decision("stop", reason="the run has ended")
            return Decision("hold", reason="the run is paused; it goes on when a person resumes it")

    def leave(self) -> None:
        """A step that was let in is over."""
        with self._condition:
            self._inside = max(0, self._inside - 1)

    @property
    def inside(self) -> int:
        """How many steps are under way."""
        return self._inside

    def wait(self, timeout: float | None = None) -> Status:
        """Wait until the gate is open or the run has ended; gives the status at that moment."""
        with self._condition:
            self._condition.wait_for(self._open, timeout)
            return self._status

    async def wait_async(self) -> Status:
        """`wait` for an event loop: no thread is held, and it can be cancelled."""
        loop = asyncio.get_running_loop()
        opened: asyncio.Future[None] = loop.create_future()

        def settle() -> None:
            if not opened.done():
                opened.set_result(None)

        def wake() -> None:
            loop.call_soon_threadsafe(settle)

        with self._condition:
            if self._open():
                return self._status
            self._wakers.append(wake)
        try:
            await opened
        finally:
            with self._condition:
                self._wakers.remove(wake)
        return self._status

    def _open(self) -> bool:
        return self._status == "running" or self._status in ENDED
