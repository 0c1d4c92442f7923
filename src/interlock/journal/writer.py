"""Journal: the one writer of a run, a thread that commits in groups."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Sequence

import apsw

from ..core import Clock, InterlockError, SystemClock
from ..core.record import RECORD_VERSION
from .commit import Committer
from .database import explain
from .entry import LOST, Entry, encode_body
from .folder import RunFolder
from .interface import Trouble, Writing
from .lock import RunLock
from .losses import Losses
from .reader import JournalReader
from .summary import RunSummary
from .waiting import Batch, Row, Waiting


class Journal(Writing):
    """A run's journal, open for writing."""

    def __init__(self, folder: RunFolder, committer: Committer, clock: Clock, lock: RunLock | None) -> None:
        self.folder, self.run_id = folder, committer.run_id
        self._committer, self._clock, self._lock = committer, clock, lock
        self._waiting = Waiting(committer.last_seq + 1)
        self._losses = Losses(clock)
        self._thread = threading.Thread(target=self._write, name=f"journal {self.run_id}", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    @classmethod
    def open(cls, folder: RunFolder, clock: Clock | None = None, *, lock: RunLock | None = None) -> Journal:
        """Open for writing. Without a lock handed in, it takes the run's lock and gives it back on close."""
        own = folder.lock() if lock is None else None
        try:
            committer = Committer.open(folder.journal)
        except InterlockError:
            if own is not None:
                own.release()
            raise
        return cls(folder, committer, clock or SystemClock(), own)

    def append(self, entries: Sequence[Entry], *, durable: bool = False, summary: RunSummary | None = None) -> int:
        now = self._clock.time()
        rows: list[Row] = [
            (entry.v, now if entry.time is None else entry.time, entry.kind, encode_body(entry.body))
            for entry in entries
        ]
        batch = Batch(rows, summary, durable)
        settled = batch.settled
        seq = self._waiting.put(batch)
        if settled is not None:
            settled.wait()
            if batch.error is not None:
                raise batch.error
        elif seq == 0 and rows:
            self._losses.drop(len(rows))
        return seq

    def set_summary(self, summary: RunSummary) -> None:
        self.append((), summary=summary)

    def flush(self) -> None:
        self.append((), durable=True)

    def trouble(self) -> Trouble | None:
        return self._losses.trouble(self._waiting.entries)

    def reader(self) -> JournalReader:
        return JournalReader.open(self.folder)

    def close(self) -> None:
        self._waiting.close()
        self._thread.join()
        atexit.unregister(self.close)
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _write(self) -> None:
        """The writer thread."""
        group: list[Batch] | None = []
        try:
            while (group := self._waiting.take(self._committer.untidy)) is not None:
                try:
                    self._committer.commit(group)
                except apsw.Error as error:
                    self._fail(group, explain(error, self.folder.journal))
                else:
                    self._waiting.settle(group)
                    self._tell_losses()
                    self._committer.tidy(only_if_large=bool(group))
        finally:
            self._stop(group or [])

    def _fail(self, group: list[Batch], error: InterlockError) -> None:
        """Refuse what somebody waits for, and keep the rest for another try."""
        if self._waiting.closed:
            self._abandon(group, error)
            return
        refused = [batch for batch in group if batch.settled is not None]
        self._losses.fail(str(error), sum(len(batch.rows) for batch in refused))
        for batch in refused:
            batch.refuse(error)
        newest = next((batch for batch in reversed(group) if batch.summary is not None), None)
        self._waiting.give_back([batch for batch in group if batch.rows or batch is newest])

    def _abandon(self, group: list[Batch], error: InterlockError) -> None:
        self._losses.fail(str(error), sum(len(batch.rows) for batch in group))
        for batch in group:
            batch.error = error
        self._waiting.settle(group)

    def _tell_losses(self) -> None:
        if untold := self._losses.recover():
            rows: list[Row] = [(RECORD_VERSION, self._clock.time(), LOST, encode_body({"entries": untold}))]
            self._waiting.put(Batch(rows, None, durable=False), by_writer=True)

    def _stop(self, in_hand: list[Batch]) -> None:
        """Let nobody wait for a thread that is gone; there is something left only if it broke."""
        self._waiting.close()
        while in_hand or (in_hand := self._waiting.take(untidy=False) or []):
            self._abandon(in_hand, InterlockError("the journal's writer has stopped", where=str(self.folder.journal)))
            in_hand = []
        self._committer.close()
