"""Journal: the one writer of a run, a thread that commits in groups."""

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

LOOK_S = 0.5
"""Time between two looks whether a full disk has room again."""


class Journal(JournalWriting):
    """A run's journal, open for writing."""

    def __init__(self, folder: RunFolder, committer: Committer, clock: Clock, lock: RunLock | None) -> None:
        self.folder, self.run_id = folder, committer.run_id
        self._committer, self._clock, self._lock = committer, clock, lock
        self._waiting = WriteQueue(committer.last_seq + 1)
        self._losses = Losses(clock)
        self._turns_away, self._look_again = False, 0.0
        # Held while committing: by the writer's thread, or one that waits for the disk and finds no one at it.
        self._writing = threading.Lock()
        committer.reserve(only_if_small=True)
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

    def trouble(self) -> JournalProblem | None:
        return self._losses.trouble(self._waiting.entries)

    @property
    def head(self) -> Head | None:
        """The newest end of the journal that is on the disk and signed, to be published elsewhere."""
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
        """Commit in this thread, which spares two changes of thread; the writer's is asked if it is at work."""
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
        """Write a group, or say why not. The caller holds `_writing`."""
        try:
            self._commit_where_there_is_room(group)
        except apsw.Error as error:
            self._fail(group, explain(error, self.folder.journal))
        except BaseException:
            # A bug in Interlock: no one may wait for what is never written.
            self._waiting.close()
            self._abandon(group, InterlockError("the journal's writer has stopped", where=str(self.folder.journal)))
            raise
        else:
            self._waiting.settle(group)
            if self._losses.any:
                self._tell_losses()

    def _commit_where_there_is_room(self, group: list[Batch]) -> None:
        """On a full disk, what someone waits for goes into the room that is kept; the rest waits, or leaves marks."""
        awaited = group[0].durable if len(group) == 1 else all(batch.durable for batch in group)
        if not self._committer.is_short:
            self._committer.commit(group)
            return
        if awaited or self._waiting.closed:
            self._commit_from_room(group)
            return
        full = apsw.FullError("the remaining space is reserved for commands and their results")
        if not any(batch.durable and batch.rows for batch in group):
            raise full
        rest = [batch for batch in group if not batch.durable and batch.rows and batch.rows[0][2] != LOST]
        reason = explain(full, self.folder.journal)
        self._commit_from_room([batch.without_content(reason) if batch in rest else batch for batch in group])
        # From here on nothing is queued that would have to make room for the next command: each mark takes some too.
        self._turns_away = True
        if rest:
            self._losses.fail(str(reason), sum(len(batch.rows) for batch in rest))

    def _is_still_full(self) -> bool:
        """Whether what no one waits for is turned away; asked by many, looked at now and then."""
        now = time.monotonic()
        if now >= self._look_again:
            self._look_again = now + LOOK_S
            self._turns_away = self._committer.is_short
        return self._turns_away

    def _commit_from_room(self, group: list[Batch]) -> None:
        """The disk is full: use what is kept, and if that is used up, what the log gives back when it is worked off."""
        try:
            self._committer.commit(group, from_room=True)
        except apsw.FullError:
            self._committer.tidy()
            self._committer.commit(group, from_room=True)

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
        """An idle moment: make room for the log, unless someone comes."""
        more = True
        while more and not (self._waiting.entries or self._waiting.closed):
            with self._writing:
                more = self._committer.reserve()

    def _fail(self, group: list[Batch], error: InterlockError) -> None:
        """Fail the batches that a caller waits for, and keep the rest for another try."""
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

    def _tell_losses(self) -> None:
        if untold := self._losses.recover():
            rows: list[Row] = [(RECORD_VERSION, self._clock.time(), LOST, encode_body(LostRecord(entries=untold)))]
            self._waiting.put(Batch(rows, None, durable=False), by_writer=True)

    def _stop(self) -> None:
        """Let no one wait for a thread that is gone; there is something left only if it broke."""
        self._waiting.close()
        with self._writing:
            if left := self._waiting.drain():
                self._abandon(left, InterlockError("the journal's writer has stopped", where=str(self.folder.journal)))
            self._committer.close()


OVERRUN = "entries arrived faster than the disk can store them"


class Losses:
    """The present trouble and the count of lost entries. Thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._trouble: JournalProblem | None = None
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

    def trouble(self, waiting: int) -> JournalProblem | None:
        """The problem to report."""
        with self._lock:
            trouble = self._trouble
        return trouble if trouble is None or trouble.over else msgspec.structs.replace(trouble, waiting=waiting)

    def _note(self, reason: str, lost: int) -> None:
        old = self._trouble
        since = self._clock.time() if old is None or old.over else old.since
        self.any = True
        self._trouble = JournalProblem(reason, since, lost=lost + (old.lost if old else 0))
