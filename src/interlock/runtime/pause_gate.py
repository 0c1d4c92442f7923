"""Gate: every step passes through it; while it is shut, nothing passes until a person resumes the run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Protocol

from ..core import ENDED, PROCEED, Clock, Decision, Status, Step, SystemClock
from .open_calls import OpenCalls, call_key

POLL_S = 0.5
"""How often a waiting step checks whether its client is still connected."""

EXPIRES_POLL_S = 30.0
"""How often a held step in an event loop asks again, because its approval request may have expired."""

Wait = tuple[int, float | None]
"""Wait until the gate's version has changed, at most this long."""


SHUT = ("paused", "pausing")
HOLD = Decision("hold", reason="the run is paused until a person resumes it")


class HungUp(Exception):
    """Raised when a client disconnects while its step waits."""


class PassageCounter(Protocol):
    """Counts the calls that pass the gate; implemented by the control endpoint."""

    def enter(self, key: str) -> bool: ...

    def leave(self, key: str) -> None: ...


MODEL = "model"
"""The tool name for requests to the model at the gate."""


class Gate:
    """Open, shut or permanently closed. Orders with a revision older than the gate's are ignored.

    After `through`, the run's control endpoint counts passages too, and its decision takes precedence.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._rested_s = 0.0
        self._shut_since: float | None = None
        self._condition = threading.Condition()
        self.status: Status = "running"
        self.revision = 0
        self._inside: OpenCalls[str] = OpenCalls()
        self._calls: dict[str, tuple[str, float]] = {}
        self.version = 0
        """Increases with every change; read it before asking, and wait for it to change after a hold."""
        self._wakers: list[Callable[[], None]] = []
        self._passages: PassageCounter | None = None

    @property
    def inside(self) -> int:
        """How many steps are in progress."""
        return len(self._inside)

    @property
    def oldest_call(self) -> tuple[str, float] | None:
        """The tool call that has been running longest, and since when; requests to the model do not count.

        If every call is delayed, the one that may begin first, and when.
        """
        with self._condition:
            return min(self._calls.values(), key=lambda call: call[1], default=None)

    @property
    def rested_s(self) -> float:
        """How long the gate has been shut in total, which counts towards no limit."""
        since = self._shut_since
        return self._rested_s + (self._clock.monotonic() - since if since is not None else 0.0)

    def rested_before(self, seconds: float) -> None:
        """Add the time for which it was shut under a predecessor."""
        self._rested_s += seconds

    def through(self, passages: PassageCounter) -> None:
        """Have the control endpoint count every passage."""
        self._passages = passages

    def set_status(self, status: Status, revision: int) -> bool:
        """Set the status; False if the order is outdated or the run has ended."""
        with self._condition:
            if revision < self.revision or self.status in ENDED:
                return False
            self.status, self.revision = status, revision
            if status == "paused":
                self._shut_since = self._shut_since if self._shut_since is not None else self._clock.monotonic()
            elif self._shut_since is not None:
                self._rested_s += self._clock.monotonic() - self._shut_since
                self._shut_since = None
            self._changed()
            return True

    def close(self, status: Status) -> None:
        """Shut permanently, in memory only: the first thing that an emergency stop does."""
        with self._condition:
            self.status = status
            self.revision += 1
            self._changed()

    def enter(self, step: Step) -> Decision:
        """Whether this step may start. Never blocks: the adapter waits for a hold to end."""
        key = call_key(step)
        if self.status != "running":
            # A step that asks again, for example after a delay, has not started yet.
            self.leave(step)
        with self._condition:
            if self.status in ENDED:
                return Decision("stop", reason="the run has ended")
            if self.status != "running":
                return HOLD
            if self._passages is not None and not self._passages.enter(key):
                return Decision("hold", reason="the run is about to pause")
            forgotten = self._inside.begin(step, key)
            if forgotten is not None:
                self._calls.pop(forgotten, None)
            if step.tool is not None and step.tool.name != MODEL:
                self._calls[key] = (step.tool.name, self._clock.monotonic())
        if forgotten is not None and self._passages is not None:
            # Its result never arrived; if it still counted, the run could never pause.
            self._passages.leave(forgotten)
        return PROCEED

    def delay(self, step: Step, seconds: float) -> None:
        """Note that an admitted call begins only after this long."""
        with self._condition:
            if (key := call_key(step)) in self._calls:
                self._calls[key] = (self._calls[key][0], self._clock.monotonic() + seconds)

    def leave(self, step: Step) -> None:
        """Note that an admitted step is over, identified by the step itself or by its result."""
        with self._condition:
            key = self._inside.end(step)
            if key is not None:
                self._calls.pop(key, None)
        if key is not None and self._passages is not None:
            self._passages.leave(key)

    def admit(
        self,
        ask: Callable[[], Decision],
        *,
        waits: Callable[[], bool] = lambda: True,
        abandon: Callable[[], None] = lambda: None,
    ) -> Decision:
        """Ask until the answer is not a hold, then wait for its delay; a pause or the run's end interrupts the delay.

        Raises HungUp once `waits` returns False. If the wait ends early, `abandon` is called.
        """
        rounds, decision = self._rounds(), None
        try:
            while not isinstance(now := rounds.send(decision), Decision):
                if not waits():
                    raise HungUp
                if now is None:
                    decision = ask()
                else:
                    version, left = now
                    self.wait(version, POLL_S if left is None else min(left, POLL_S))
        except BaseException:
            abandon()
            raise
        return now

    async def admit_async(self, ask: Callable[[], Decision], *, abandon: Callable[[], None] = lambda: None) -> Decision:
        """`admit` for an event loop: `ask` and `abandon` run in a thread, and a wait can be cancelled."""
        import asyncio  # programs without an event loop need not import it

        rounds, decision = self._rounds(), None
        asking, given_up = threading.Lock(), threading.Event()

        def ask_once() -> Decision:
            with asking:
                return ask() if not given_up.is_set() else HOLD

        def give_up() -> None:
            with asking:
                abandon()

        try:
            while not isinstance(now := rounds.send(decision), Decision):
                if now is None:
                    decision = await asyncio.to_thread(ask_once)
                else:
                    version, left = now
                    await self.wait_async(version, EXPIRES_POLL_S if left is None else left)
        except BaseException:
            given_up.set()
            asyncio.get_running_loop().run_in_executor(None, give_up)
            raise
        return now

    def wait_open(self) -> None:
        """Wait until the run is not paused."""
        self.admit(self._pause_state)

    async def wait_open_async(self) -> None:
        """`wait_open` for an event loop."""
        await self.admit_async(self._pause_state)

    def _pause_state(self) -> Decision:
        return HOLD if self.status in SHUT else PROCEED

    def _rounds(self) -> Generator[Wait | Decision | None, Decision | None, None]:
        """The next action until a step is admitted: None to ask, a Wait, and finally the decision."""
        while True:
            version = self.version
            decision = yield None
            assert decision is not None
            if decision.action == "hold":
                yield version, None
                continue
            until = time.monotonic() + decision.delay_s
            while (left := until - time.monotonic()) > 0:
                version = self.version
                if self.status != "running":
                    break
                yield version, left
            if not decision.delay_s or self.status == "running":
                yield decision

    def notify(self) -> None:
        """Wake the waiting callers, as their request may have been answered."""
        with self._condition:
            self._changed()

    def wait(self, version: int, timeout: float | None = None) -> None:
        """Wait until the gate has changed since `version`."""
        with self._condition:
            self._condition.wait_for(lambda: self.version != version, timeout)

    async def wait_async(self, version: int, timeout: float | None = None) -> None:
        """`wait` for an event loop: uses no thread, and can be cancelled."""
        import asyncio

        loop = asyncio.get_running_loop()
        changed = asyncio.Event()

        def wake() -> None:
            loop.call_soon_threadsafe(changed.set)

        with self._condition:
            if self.version != version:
                return
            self._wakers.append(wake)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    await changed.wait()
        finally:
            with self._condition:
                self._wakers.remove(wake)

    def _changed(self) -> None:
        self.version += 1
        self._condition.notify_all()
        for wake in self._wakers:
            wake()
