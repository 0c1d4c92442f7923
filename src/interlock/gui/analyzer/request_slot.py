"""RequestSlot: who may ask next while the API asks for patience; only the newest waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class RequestSlot:
    """A queue with one place: taking a ticket dismisses the previous waiter."""

    def __init__(self, wait: Callable[[float], bool] | None = None) -> None:
        self._condition = threading.Condition()
        self._newest = 0
        self._not_before = 0.0
        self._stopped = False
        # Handed in by tests: waits the seconds at once, True if it was asked to stop.
        self._wait = wait

    def acquire(self) -> int:
        with self._condition:
            self._newest += 1
            self._condition.notify_all()
            return self._newest

    def pause(self, seconds: float) -> None:
        """Let no one ask for a while."""
        with self._condition:
            self._not_before = time.monotonic() + seconds
            if self._wait is not None:
                self._stopped = self._wait(seconds) or self._stopped
                self._not_before = 0.0

    def wait(self, ticket: int) -> bool:
        """Wait until asking is allowed; False if a newer ticket was taken, or on stop."""
        with self._condition:
            while not self._stopped and ticket == self._newest:
                left = self._not_before - time.monotonic()
                if left <= 0:
                    return True
                self._condition.wait(left)
            return False

    def start(self) -> None:
        with self._condition:
            self._stopped = False

    def stop(self) -> None:
        with self._condition:
            self._stopped = True
            self._condition.notify_all()
