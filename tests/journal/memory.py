"""MemoryJournal: a journal without a disk, for tests."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence, Set

import msgspec

from interlock.core import Clock, InvalidState, Record, SystemClock
from interlock.journal.interface import JournalEntry, JournalProblem, JournalReading, JournalWriting, encode_body
from interlock.journal.summary import RunSummary

LOOK_S = 0.05
"""How often a follower that waits looks whether it shall stop."""


class MemoryJournal(JournalWriting):
    """A journal that ends with the process."""

    def __init__(self, run_id: str, clock: Clock | None = None) -> None:
        self.run_id = run_id
        self._clock = clock or SystemClock()
        self._kept = _Kept()
        self._closed = False

    def append(
        self, entries: Sequence[JournalEntry], *, durable: bool = False, summary: RunSummary | None = None
    ) -> int:
        now = self._clock.time()
        bodies = [msgspec.Raw(encode_body(entry.body).encode()) for entry in entries]
        kept = self._kept
        with kept.changed:
            if self._closed:
                raise InvalidState("the journal is closed")
            seq = len(kept.records)
            for entry, body in zip(entries, bodies, strict=True):
                seq += 1
                when = now if entry.time is None else entry.time
                kept.records.append(
                    Record(seq=seq, run_id=self.run_id, time=when, kind=entry.kind, body=body, v=entry.v)
                )
            kept.summary = summary or kept.summary
            kept.changed.notify_all()
            return seq

    def flush(self) -> None:
        """Nothing waits here."""

    def trouble(self) -> JournalProblem | None:
        return None

    def reader(self) -> MemoryReader:
        return MemoryReader(self._kept)

    def close(self) -> None:
        """Accept no more; what is there can still be read."""
        with self._kept.changed:
            self._closed = True


class MemoryReader(JournalReading):
    """Reads a journal in memory."""

    def __init__(self, kept: _Kept) -> None:
        self._kept = kept

    def read(self, after: int = 0, kinds: Set[str] | None = None, limit: int | None = None) -> Iterator[Record]:
        given = 0
        for record in self._kept.records[max(0, after) :]:
            if limit is not None and given >= limit:
                return
            if kinds is None or record.kind in kinds:
                given += 1
                yield record

    def follow(
        self,
        after: int = 0,
        kinds: Set[str] | None = None,
        stop: threading.Event | None = None,
        timeout: float | None = None,
    ) -> Iterator[Record]:
        heard = time.monotonic()
        while not (stop and stop.is_set()):
            with self._kept.changed:
                if len(self._kept.records) <= after:
                    self._kept.changed.wait(LOOK_S)
                fresh = self._kept.records[max(0, after) :]
            for record in fresh:
                after = record.seq
                if kinds is None or record.kind in kinds:
                    yield record
                    heard = time.monotonic()
                    if stop and stop.is_set():
                        return
            if not fresh and timeout is not None and time.monotonic() - heard >= timeout:
                return

    def last(self, kind: str | None = None) -> Record | None:
        return next((record for record in reversed(self._kept.records) if kind is None or record.kind == kind), None)

    def count(self, kind: str | None = None) -> int:
        records = self._kept.records
        return len(records) if kind is None else sum(record.kind == kind for record in records)

    def summary(self) -> RunSummary | None:
        return self._kept.summary

    def close(self) -> None:
        """Nothing is held."""


class _Kept:
    """What writer and readers share."""

    def __init__(self) -> None:
        self.changed = threading.Condition(threading.Lock())
        self.records: list[Record] = []
        self.summary: RunSummary | None = None
