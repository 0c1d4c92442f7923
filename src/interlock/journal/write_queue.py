"""WriteQueue: the bounded queue between callers that append and the writer thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from ..core import InterlockError, InvalidState, LostRecord
from .interface import LOST, encode_body
from .summary import RunSummary

WINDOW_S = 0.03
"""How long the first entry of a group waits for others; with the commit it stays well below 100 ms."""

RETRY_S = 1.0
"""Time between two attempts while the disk refuses."""

IDLE_S = 0.5
"""After this long without an entry, the log is tidied up."""

MAX_ENTRIES = 100_000
MAX_CHARACTERS = 64 * 1024 * 1024

Row = tuple[int, float, str, str]
"""v, time, kind, body."""


class Batch:
    """The entries of one append; `durable` if the caller waits for the disk, by `settled` if another thread writes.

    `size` is its share of the queue, in characters; None if it is not in the queue.
    """

    __slots__ = ("durable", "error", "first", "rows", "settled", "size", "summary")

    def __init__(self, rows: Sequence[Row], summary: RunSummary | None, durable: bool) -> None:
        self.rows = rows
        self.size: int | None = None
        self.summary = summary
        self.first = 0
        self.durable = durable
        self.settled: threading.Lock | None = None
        self.error: InterlockError | None = None

    def expect(self) -> threading.Lock:
        """A lock that is released when the batch is settled."""
        self.settled = threading.Lock()
        self.settled.acquire()
        return self.settled

    def settle(self) -> None:
        """Release the waiting caller."""
        if self.settled is not None:
            self.settled.release()
            self.settled = None

    def refuse(self, error: InterlockError) -> None:
        """Wake the caller, and replace every entry with a mark, so that the numbers have no gap."""
        self.error, self.summary, self.durable = error, None, False
        self.rows = self._marks(error)
        self.settle()

    def without_content(self, error: InterlockError) -> Batch:
        """The same batch with marks only."""
        marks = Batch(self._marks(error), self.summary, durable=False)
        marks.first = self.first
        return marks

    def _marks(self, error: InterlockError) -> list[Row]:
        return [
            (v, time, LOST, encode_body(LostRecord(kind=kind, reason=error.what))) for v, time, kind, _ in self.rows
        ]


class WriteQueue:
    """Batches in order of their numbers."""

    def __init__(self, next_seq: int) -> None:
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._batches: list[Batch] = []
        self._next_seq = next_seq
        self._characters = 0
        self._due = self._put_at = 0.0
        self._not_before = 0.0
        self._urgent = self._fresh = self._dozing = False
        self.entries = 0
        self.closed = False

    def put(self, batch: Batch, by_writer: bool = False) -> int:
        """Number a batch and queue it; returns the last number, or 0 if full. The writer itself is never refused."""
        count, size = len(batch.rows), _measure(batch)
        with self._lock:
            if self.closed and not by_writer:
                raise InvalidState("the journal is closed")
            full = self.entries + count > MAX_ENTRIES or self._characters + size > MAX_CHARACTERS
            if full and count and not batch.durable and not by_writer:
                return 0
            batch.first = self._next_seq
            self._next_seq += count
            self._count(batch, size)
            self._batches.append(batch)
            self._put_at = time.monotonic()
            self._fresh = True
            if len(self._batches) == 1:
                self._due = self._put_at + WINDOW_S
            # The caller of a durable batch commits it, and involves the writer only if that is busy; but a writer that
            # sleeps indefinitely has to know that there will be something to tidy up.
            if self._dozing or (not batch.durable and len(self._batches) == 1):
                self._dozing = False
                self._changed.notify()
            return self._next_seq - 1

    def hurry(self) -> None:
        """Wake the writer now: for something urgent, or because the log is large."""
        with self._lock:
            self._urgent = True
            self._changed.notify()

    def wait(self, untidy: Callable[[], bool]) -> bool:
        """Wait until a group is due, or for an idle moment if something is untidy; False at the end."""
        with self._lock:
            while not (self._urgent or self.closed):
                if self._batches:
                    wake: float | None = max(self._due, self._not_before) - time.monotonic()
                else:
                    wake = self._put_at + IDLE_S - time.monotonic() if self._fresh or untidy() else None
                if wake is not None and wake <= 0:
                    # If a reader prevents tidying up now, wait as long again for the next attempt.
                    self._put_at = time.monotonic()
                    break
                self._dozing = wake is None
                self._changed.wait(wake)
            self._urgent = self._fresh = self._dozing = False
            return bool(self._batches) or not self.closed

    def drain(self) -> list[Batch]:
        """Remove and return all batches, in order."""
        with self._lock:
            group, self._batches = self._batches, []
            return group

    def drain_with(self, batch: Batch) -> list[Batch]:
        """The same followed by a batch of the caller, which gets its number without being queued."""
        with self._lock:
            if self.closed:
                raise InvalidState("the journal is closed")
            batch.first = self._next_seq
            self._next_seq += len(batch.rows)
            self._put_at = time.monotonic()
            self._fresh = True
            if self._dozing:
                self._dozing = False
                self._changed.notify()
            group, self._batches = self._batches, []
            group.append(batch)
            return group

    def settle(self, group: list[Batch]) -> None:
        """Note that the group is on the disk, or given up."""
        with self._lock:
            for batch in group:
                if batch.size is not None:
                    self.entries -= len(batch.rows)
                    self._characters -= batch.size
            self._not_before = 0.0
        for batch in group:
            if batch.settled is not None:
                batch.settle()

    def give_back(self, group: list[Batch]) -> None:
        """Put a group back that could not be written, in front, for another attempt."""
        with self._lock:
            for batch in group:
                if batch.size is None:
                    self._count(batch, _measure(batch))
            self._batches[:0] = group
            self._not_before = time.monotonic() + RETRY_S

    def close(self) -> None:
        """Accept no more batches, and have the rest written now."""
        with self._lock:
            self.closed = True
            self._changed.notify()

    def _count(self, batch: Batch, size: int) -> None:
        batch.size = size
        self.entries += len(batch.rows)
        self._characters += size


def _measure(batch: Batch) -> int:
    return sum([len(row[3]) for row in batch.rows])
