"""Journal: the single writer of a run, with a thread that commits in groups."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Sequence

import apsw
import msgspec

from ..core import RECORD_VERSION, Clock, InterlockError, LostRecord, SystemClock
from .committer import Committer
from .database import explain
from .folder import RunFolder
from .interface import LOST, Head, JournalEntry, JournalProblem, JournalWriting, encode_body
from .lock import RunLock
from .reader import JournalReader
from .summary import RunSummary
from .write_queue import Batch, Row, WriteQueue

RECHECK_S = 0.5
"""Time between two checks whether a full disk has space again."""


class Journal(JournalWriting):
    """A run's journal, open for writing."""

    def __init__(self, folder: RunFolder, committer: Committer, clock: Clock, lock: RunLock | None) -> None:
        self.folder, self.run_id = folder, committer.run_id
        self._committer, self._clock, self._lock = committer, clock, lock
        self._waiting = WriteQueue(committer.last_seq + 1)
        self._losses = Losses(clock)
        self._turns_away, self._recheck_at = False, 0.0
        # Held while committing: by the writer thread, or by a caller that commits its durable batch itself.
        self._writing = threading.Lock()
        committer.reserve(only_if_small=True)
        self._thread = threading.Thread(target=self._write, name=f"journal {self.run_id}", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    @classmethod
    def open(cls, folder: RunFolder, clock: Clock | None = None, *, lock: RunLock | None = None) -> Journal:
        """Open for writing. Without a given lock, it acquires the run's lock and releases it on close."""
        own = folder.lock() if lock is None else None
        try:
            committer = Committer.open(folder.journal)
        except InterlockError:
            if own is not None:
                own.release()
            raise
        return cls(folder, committer, clock or SystemClock(), own)

    def append(
        self, entries: Sequence[JournalEntry], *, durable: bool = False, summary: RunSummary | None = None
    ) -> int:
        now = self._clock.time()
        rows: list[Row] = [
            (entry.v, now if entry.time is None else entry.time, entry.kind, encode_body(entry.body))
            for entry in entries
        ]
        batch = Batch(rows, summary, durable)
        if durable:
            return self._put_and_commit(batch)
        if self._turns_away and rows and self._is_still_full():
            self._losses.drop(len(rows))
            batch.rows = rows = []
        seq = self._waiting.put(batch)
        if seq == 0 and rows:
            self._losses.drop(len(rows))
        return seq if rows or not entries else 0

    def flush(self) -> None:
        self.append((), durable=True)

    def problem(self) -> JournalProblem | None:
        return self._losses.problem(self._waiting.entries)

    @property
    def head(self) -> Head | None:
        """The newest signed head on the disk, to be published elsewhere."""
        return self._committer.head

    def reader(self) -> JournalReader:
        return JournalReader.open(self.folder)

    def close(self) -> None:
        self._waiting.close()
        self._thread.join()
        atexit.unregister(self.close)
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _put_and_commit(self, batch: Batch) -> int:
        """Commit in this thread, which saves two thread switches; if the writer is busy, it commits the batch."""
        if self._writing.acquire(blocking=False):
            try:
                self._commit(self._waiting.drain_with(batch))
            finally:
                self._writing.release()
            if self._committer.is_large or self._committer.is_cramped:
                self._waiting.hurry()
        else:
            settled = batch.expect()
            self._waiting.put(batch)
            self._waiting.hurry()
            settled.acquire()
        if batch.error is not None:
            raise batch.error
        return batch.first + len(batch.rows) - 1

    def _commit(self, group: list[Batch]) -> None:
        """Write a group, or fail its batches. The caller holds `_writing`."""
        try:
            self._commit_within_space(group)
        except apsw.Error as error:
            self._fail(group, explain(error, self.folder.journal))
        except BaseException:
            # A bug in Interlock: nobody must wait for what is never written.
            self._waiting.close()
            self._abandon(group, InterlockError("the journal's writer has stopped", where=str(self.folder.journal)))
            raise
        else:
            self._waiting.settle(group)
            if self._losses.any:
                self._record_losses()

    def _commit_within_space(self, group: list[Batch]) -> None:
        """On a full disk, durable batches use the reserved space; the others wait, or leave marks."""
        awaited = group[0].durable if len(group) == 1 else all(batch.durable for batch in group)
        if not self._committer.is_short:
            self._committer.commit(group)
            return
        if awaited or self._waiting.closed:
            self._commit_from_reserve(group)
            return
        full = apsw.FullError("the remaining space is reserved for commands and their results")
        if not any(batch.durable and batch.rows for batch in group):
            raise full
        rest = [batch for batch in group if not batch.durable and batch.rows and batch.rows[0][2] != LOST]
        reason = explain(full, self.folder.journal)
        self._commit_from_reserve([batch.without_content(reason) if batch in rest else batch for batch in group])
        # From here on only durable batches are queued: even a mark would use space that the next command needs.
        self._turns_away = True
        if rest:
            self._losses.fail(str(reason), sum(len(batch.rows) for batch in rest))

    def _is_still_full(self) -> bool:
        """Whether batches that are not durable are rejected; rechecked now and then only."""
        now = time.monotonic()
        if now >= self._recheck_at:
            self._recheck_at = now + RECHECK_S
            self._turns_away = self._committer.is_short
        return self._turns_away

    def _commit_from_reserve(self, group: list[Batch]) -> None:
        """Use the reserved space of a full disk, and if that is used up, what checkpointing the log frees."""
        try:
            self._committer.commit(group, from_reserve=True)
        except apsw.FullError:
            self._committer.tidy()
            self._committer.commit(group, from_reserve=True)

    def _write(self) -> None:
        """The writer thread."""
        try:
            while self._waiting.wait(lambda: self._committer.untidy):
                with self._writing:
                    group = self._waiting.drain()
                    self._commit(group)
                    cramped = self._committer.is_cramped
                    self._committer.tidy(only_if_large=cramped or bool(group))
                    if cramped:
                        self._committer.reserve()
                if not (group or cramped):
                    self._reserve()
        finally:
            self._stop()

    def _reserve(self) -> None:
        """In an idle moment, reserve space for the log, until something is appended."""
        more = True
        while more and not (self._waiting.entries or self._waiting.closed):
            with self._writing:
                more = self._committer.reserve()

    def _fail(self, group: list[Batch], error: InterlockError) -> None:
        """Fail the batches that a caller waits for, and keep the rest for another attempt."""
        if self._waiting.closed:
            self._abandon(group, error)
            return
        refused = [batch for batch in group if batch.durable]
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

    def _record_losses(self) -> None:
        if unrecorded := self._losses.recover():
            rows: list[Row] = [(RECORD_VERSION, self._clock.time(), LOST, encode_body(LostRecord(entries=unrecorded)))]
            self._waiting.put(Batch(rows, None, durable=False), by_writer=True)

    def _stop(self) -> None:
        """Fail what is left when the thread ends; there is something only if it broke."""
        self._waiting.close()
        with self._writing:
            if left := self._waiting.drain():
                self._abandon(left, InterlockError("the journal's writer has stopped", where=str(self.folder.journal)))
            self._committer.close()


OVERRUN = "entries arrived faster than the disk can store them"


class Losses:
    """The present problem and the count of lost entries. Thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._problem: JournalProblem | None = None
        self.any = False
        """Whether there is a problem to recover from."""
        self._unrecorded = 0

    def fail(self, reason: str, lost: int = 0) -> None:
        """Record a failed write, and how many entries are given up."""
        with self._lock:
            self._note(reason, lost)

    def drop(self, count: int) -> None:
        """Record entries that did not fit into the queue; unlike refused ones they leave no gap to mark."""
        with self._lock:
            reason = self._problem.reason if self._problem and not self._problem.over else OVERRUN
            self._note(reason, count)
            self._unrecorded += count

    def recover(self) -> int:
        """Note that writing works again; returns how many dropped entries are not in the journal yet."""
        with self._lock:
            if self._problem is None:
                return 0
            self._problem = msgspec.structs.replace(self._problem, over=True) if self._problem.lost else None
            self.any = self._problem is not None
            unrecorded, self._unrecorded = self._unrecorded, 0
            return unrecorded

    def problem(self, waiting: int) -> JournalProblem | None:
        """The problem to report."""
        with self._lock:
            problem = self._problem
        return problem if problem is None or problem.over else msgspec.structs.replace(problem, waiting=waiting)

    def _note(self, reason: str, lost: int) -> None:
        old = self._problem
        since = self._clock.time() if old is None or old.over else old.since
        self.any = True
        self._problem = JournalProblem(reason, since, lost=lost + (old.lost if old else 0))
