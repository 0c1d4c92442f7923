"""JournalReader: read and follow a run's journal in short transactions, while its owner writes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Set
from threading import Event
from typing import Any

import apsw
import msgspec

from ..core import InterlockError, Record
from .database import Unreadable, explain, open_for_reading
from .folder import RunFolder
from .interface import Reading
from .summary import RunSummary

CHUNK = 256
"""Rows per transaction: a reader that stays long in one keeps the write-ahead log from being worked off."""

POLL_S = (0.02, 0.1)
"""Time between two looks while records come, and when none have come for long. A look costs some ten microseconds.
(Watching the file instead is no use: its last write happens before the records become visible.)"""

_COLUMNS = "SELECT seq, v, time, kind, body FROM record"


class JournalReader(Reading):
    """A journal, open for reading. One reader belongs to one thread."""

    def __init__(self, connection: apsw.Connection, folder: RunFolder) -> None:
        self._connection, self._folder = connection, folder
        self._version: int | None = None
        self.run_id: str = self._ask("SELECT run_id FROM about")[0][0]

    @classmethod
    def open(cls, folder: RunFolder) -> JournalReader:
        """Open for reading; Unreadable if it is damaged, NotFound if there is none."""
        connection = open_for_reading(folder.journal)
        try:
            return cls(connection, folder)
        except InterlockError:
            connection.close()
            raise
        except IndexError:
            connection.close()
            raise Unreadable("this is not a journal", where=str(folder.journal)) from None

    def read(self, after: int = 0, kinds: Set[str] | None = None, limit: int | None = None) -> Iterator[Record]:
        left = limit
        while left is None or left > 0:
            want = CHUNK if left is None else min(CHUNK, left)
            chunk = self._chunk(after, kinds, want)
            yield from chunk
            if len(chunk) < want:
                return
            after = chunk[-1].seq
            left = None if left is None else left - len(chunk)

    def follow(
        self, after: int = 0, kinds: Set[str] | None = None, stop: Event | None = None, timeout: float | None = None
    ) -> Iterator[Record]:
        stop = stop or Event()
        fast, slow = POLL_S
        pause, heard = fast, time.monotonic()
        self._version = None
        while not stop.is_set():
            if self.changed():
                for record in self.read(after, kinds):
                    after, pause = record.seq, fast
                    yield record
                    heard = time.monotonic()
                    if stop.is_set():
                        return
            elif timeout is not None and time.monotonic() - heard >= timeout:
                return
            else:
                stop.wait(pause)
                pause = min(slow, pause * 1.3)

    def changed(self) -> bool:
        """Whether anything was committed since this was last asked; the first time, true."""
        before, self._version = self._version, self._ask("PRAGMA data_version")[0][0]
        return self._version != before

    def last(self, kind: str | None = None) -> Record | None:
        where, values = ("WHERE kind = ?", (kind,)) if kind is not None else ("", ())
        rows = self._ask(f"{_COLUMNS} {where} ORDER BY seq DESC LIMIT 1", values)
        return self._record(rows[0]) if rows else None

    def count(self, kind: str | None = None) -> int:
        where, values = ("WHERE kind = ?", (kind,)) if kind is not None else ("", ())
        return int(self._ask(f"SELECT count(*) FROM record {where}", values)[0][0])

    def summary(self) -> RunSummary | None:
        rows = self._ask("SELECT body FROM summary")
        if not rows:
            return None
        try:
            return msgspec.json.decode(rows[0][0], type=RunSummary)
        except msgspec.DecodeError as error:
            raise Unreadable(f"its summary cannot be read ({error})", where=str(self._folder.journal)) from None

    def check(self) -> list[str]:
        """What SQLite finds wrong with the file; nothing if it is sound."""
        try:
            found = [str(row[0]) for row in self._ask("PRAGMA integrity_check")]
        except Unreadable as error:
            found = [error.what]
        return [] if found == ["ok"] else found

    def close(self) -> None:
        self._connection.close()

    def _chunk(self, after: int, kinds: Set[str] | None, limit: int) -> list[Record]:
        if kinds is None:
            rows = self._ask(f"{_COLUMNS} WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit))
        elif not kinds:
            rows = []
        else:
            # One ordered walk along the index per kind, merged: no sorting, however long the journal is.
            each = " UNION ALL ".join([f"{_COLUMNS} WHERE kind = ? AND seq > {int(after)}"] * len(kinds))
            rows = self._ask(f"{each} ORDER BY seq LIMIT ?", (*sorted(kinds), limit))
        return [self._record(row) for row in rows]

    def _record(self, row: tuple[Any, ...]) -> Record:
        seq, v, when, kind, body = row
        return Record(seq=seq, run_id=self.run_id, time=when, kind=kind, body=msgspec.Raw(body.encode()), v=v)

    def _ask(self, sql: str, values: tuple[apsw.SQLiteValue, ...] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(sql, values).fetchall()
        except apsw.Error as error:
            raise explain(error, self._folder.journal) from error
