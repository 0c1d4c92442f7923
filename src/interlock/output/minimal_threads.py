"""Minimal threads, conditions and events: `threading` takes a fifth of a small process's memory and start-up time."""

from __future__ import annotations

import _thread
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

FOREVER = -1.0


class Thread:
    """Calls `work` in a daemon thread."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._running = _thread.allocate_lock()
        self.begun = False

    def start(self) -> None:
        self._running.acquire()
        try:
            _thread.start_new_thread(self._run, ())
        except BaseException:
            self._running.release()
            raise
        self.begun = True

    def is_alive(self) -> bool:
        return self._running.locked()

    def join(self, seconds: float = FOREVER) -> None:
        """Wait for the thread to end, at most this long."""
        if self._running.acquire(True, seconds):
            self._running.release()

    def _run(self) -> None:
        try:
            self._work()
        finally:
            self._running.release()


class Condition:
    """A condition variable with its lock."""

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self._waiters: list[_thread.LockType] = []

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def wait_for(self, holds: Callable[[], object], seconds: float = FOREVER) -> bool:
        """Wait, with the lock released, until `holds` is true, checked on each notification; False on timeout."""
        deadline = time.monotonic() + seconds
        while not holds():
            left = FOREVER if seconds == FOREVER else deadline - time.monotonic()
            if left <= 0 and seconds != FOREVER:
                return False
            self._wait(left)
        return True

    def notify_all(self) -> None:
        for waiter in self._waiters:
            waiter.release()
        self._waiters.clear()

    def _wait(self, seconds: float) -> None:
        waiter = _thread.allocate_lock()
        waiter.acquire()
        self._waiters.append(waiter)
        self._lock.release()
        try:
            waiter.acquire(True, seconds)
        finally:
            self._lock.acquire()
            if waiter in self._waiters:
                self._waiters.remove(waiter)


class Event:
    """A flag that is set once."""

    def __init__(self) -> None:
        self._changed, self._is_set = Condition(), False

    def set(self) -> None:
        with self._changed:
            self._is_set = True
            self._changed.notify_all()

    def wait(self, seconds: float = FOREVER) -> bool:
        """Wait until it is set; False on timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: self._is_set, seconds)
