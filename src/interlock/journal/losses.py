"""Losses: what a failing disk has cost a journal so far."""

from __future__ import annotations

import threading

import msgspec

from ..core import Clock
from .interface import Trouble

OVERRUN = "entries came faster than the disk takes them"


class Losses:
    """The present trouble and the count of lost entries. Thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._trouble: Trouble | None = None
        self.any = False
        """Whether there is something to recover from."""
        self._untold = 0

    def fail(self, reason: str, lost: int = 0) -> None:
        """A try to write failed, and these entries are given up."""
        with self._lock:
            self._note(reason, lost)

    def drop(self, count: int) -> None:
        """Entries found no room in the queue; unlike refused ones they leave no gap to mark."""
        with self._lock:
            reason = self._trouble.reason if self._trouble and not self._trouble.over else OVERRUN
            self._note(reason, count)
            self._untold += count

    def recover(self) -> int:
        """Writing works. How many dropped entries the journal does not know of yet."""
        with self._lock:
            if self._trouble is None:
                return 0
            self._trouble = msgspec.structs.replace(self._trouble, over=True) if self._trouble.lost else None
            self.any = self._trouble is not None
            untold, self._untold = self._untold, 0
            return untold

    def trouble(self, waiting: int) -> Trouble | None:
        """What to tell."""
        with self._lock:
            trouble = self._trouble
        return trouble if trouble is None or trouble.over else msgspec.structs.replace(trouble, waiting=waiting)

    def _note(self, reason: str, lost: int) -> None:
        old = self._trouble
        since = self._clock.time() if old is None or old.over else old.since
        self.any = True
        self._trouble = Trouble(reason, since, lost=lost + (old.lost if old else 0))
