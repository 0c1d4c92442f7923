"""Gate: every step passes here; shut, it lets nothing through until a person says so."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from ..core import ENDED, PROCEED, Decision, Status, Step


class Gate:
    """Open, shut or closed for good, fenced by revision: an order older than what the gate has is ignored.

    The gate in memory answers the steps of this process. `on_change` makes an order durable (the gate file) before
    it is obeyed, so that a hook client finds it also when no owner lives.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._status: Status = "running"
        self._revision = 0
        self._inside = 0
        self._version = 0
        self._wakers: list[Callable[[], None]] = []
        self.on_change: Callable[[Status, int], None] | None = None
        self.on_passage: Callable[[bool], None] | None = None

    @property
    def status(self) -> Status:
        return self._status

    @property
    def revision(self) -> int:
        return self._revision

    @property
    def inside(self) -> int:
        """How many steps are under way."""
        return self._inside

    @property
    def version(self) -> int:
        """Grows with every change; read it before asking, and wait for it to move on after a hold."""
        return self._version

    def be(self, status: Status, revision: int) -> bool:
        """Be in this state; False where the order is older than what the gate has. What has ended stays ended."""
        with self._condition:
            if revision < self._revision or self._status in ENDED:
                return False
            if self.on_change is not None:
                self.on_change(status, revision)
            self._status, self._revision = status, revision
            self._changed()
            return True

    def close(self, status: Status) -> None:
        """Shut for good, at once and in memory alone: what an emergency stop does first."""
        with self._condition:
            self._status = status
            self._revision += 1
            self._changed()

    def enter(self, step: Step) -> Decision:
        """May this step start? Never waits: a hold is a value that the adapter waits on."""
        with self._condition:
            if self._status in ENDED:
                return Decision("stop", reason="the run has ended")
            if self._status != "running":
                return Decision("hold", reason="the run is paused; it goes on when a person resumes it")
            self._inside += 1
            if self.on_passage is not None:
                self.on_passage(True)
            return PROCEED

    def leave(self) -> None:
        """A step that was let in is over."""
        with self._condition:
            if self._inside:
                self._inside -= 1
                if self.on_passage is not None:
                    self.on_passage(False)

    def notify(self) -> None:
        """Wake whoever waits: something that they asked for may have been answered."""
        with self._condition:
            self._changed()

    def wait(self, version: int, timeout: float | None = None) -> None:
        """Wait until the gate has changed since `version`."""
        with self._condition:
            self._condition.wait_for(lambda: self._version != version, timeout)

    async def wait_async(self, version: int) -> None:
        """`wait` for an event loop: no thread is held, and it can be cancelled."""
        loop = asyncio.get_running_loop()
        changed = asyncio.Event()

        def wake() -> None:
            loop.call_soon_threadsafe(changed.set)

        with self._condition:
            if self._version != version:
                return
            self._wakers.append(wake)
        try:
            await changed.wait()
        finally:
            with self._condition:
                self._wakers.remove(wake)

    def _changed(self) -> None:
        self._version += 1
        self._condition.notify_all()
        for wake in self._wakers:
            wake()
