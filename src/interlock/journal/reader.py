"""JournalReader: read and follow a run's journal in short transactions, while its owner writes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence, Set
from threading import Event
from typing import Any
from urllib.parse import quote
from weakref import WeakMethod

import apsw
import msgspec

from ..core import InterlockError, LostRecord, Record, from_json
from .database import CHAINED_VERSION, UnreadableJournal, damaged, describe_newer, explain, open_for_reading
from .folder import RunFolder
from .interface import LOST, Head, JournalReading, digest, encode_body
from .packing import DamagedBody, Found, Unpacker
from .summary import RunSummary

CHUNK = 256
"""Rows per transaction: a long transaction keeps the write-ahead log from being checkpointed."""

BIG_CHUNK = 2048
"""Rows per transaction where they are only summed up."""

POLL_S = (0.02, 0.1)
"""Polling interval while records arrive, and when none have for long. A poll costs some ten microseconds.
(Watching the file does not help: its last write happens before the records become visible.)"""

_LIKE = "unpacked(seq, CAST(body AS BLOB)) LIKE ? ESCAPE '\\'"
_COLUMNS = "SELECT seq, v, time, CAST(kind AS BLOB), CAST(body AS BLOB) FROM record"
"""As bytes: damaged values may not be text."""

_LARGEST = 2**63 - 1
"""The largest number of SQLite; a larger number of a record means the same."""

_UNTIL = "SELECT coalesce((SELECT min(first) FROM dictionary WHERE first > ?1), (SELECT max(seq) + 1 FROM record))"
_DICTIONARY = f"SELECT first, ({_UNTIL}), data FROM dictionary WHERE first <= ?1 ORDER BY first DESC LIMIT 1"


class JournalReader(JournalReading):
    """A journal, open for reading. One reader belongs to one thread."""

    def __init__(self, connection: apsw.Connection, folder: RunFolder) -> None:
        self._connection, self._folder = connection, folder
        self._version: int | None = None
        self._is_fixed = connection.open_flags & apsw.SQLITE_OPEN_URI != 0
        # Weak, or SQLite would keep a reader that is never closed, and its files, for the life of the process.
        find, unpacked = WeakMethod(self._find_dictionary), WeakMethod(self.unpacked)
        self._unpack = Unpacker(lambda seq: _alive(find)(seq)).unpack
        connection.create_scalar_function("unpacked", lambda *stored: _alive(unpacked)(*stored), 2)
        self.run_id: str = self._ask("SELECT run_id FROM about")[0][0]
        self.version = int(self._ask("PRAGMA user_version")[0][0])
        self.is_chained = self.version >= CHAINED_VERSION
        self.newer = describe_newer(self.version)
        """The message for a journal that a newer program wrote; None if this one supports its format."""

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
            raise UnreadableJournal("this is not a journal", where=str(folder.journal)) from None

    def read(self, after: int = 0, kinds: Set[str] | None = None, limit: int | None = None) -> Iterator[Record]:
        left = limit
        while left is None or left > 0:
            want = CHUNK if left is None else min(CHUNK, left)
            rows = self._select(_COLUMNS, "seq > ?", (after,), kinds, want)
            # One by one: a short row may unpack to a long record.
            for row in rows:
                yield self._record(row)
            if len(rows) < want:
                return
            after = rows[-1][0]
            left = None if left is None else left - len(rows)

    def search(
        self,
        *,
        after: int = 0,
        before: int | None = None,
        kinds: Set[str] | None = None,
        text: str = "",
        having: Sequence[str] = (),
        limit: int = CHUNK,
        newest: bool = False,
    ) -> list[Record]:
        """At most `limit` records between two numbers, the first of them or the newest, always in order.

        `text` is searched for in the body's values, any of `having` in its JSON; both ignore case.
        """
        where = ["seq > ?"]
        conditions: list[apsw.SQLiteValue] = [after]
        if before is not None:
            where.append("seq < ?")
            conditions.append(before)
        if text:
            where.append(_LIKE)
            conditions.append(f"%{_escape(msgspec.json.encode(text).decode()[1:-1])}%")
        if having:
            # Several times faster than instr.
            where.append(f"({' OR '.join([_LIKE] * len(having))})")
            conditions += [f"%{_escape(each)}%" for each in having]
        rows = self._select(_COLUMNS, " AND ".join(where), conditions, kinds, limit, newest=newest)
        found = [self._record(row) for row in rows]
        return found[::-1] if newest else found

    def bodies(self, after: int = 0, kinds: Set[str] = frozenset()) -> Iterator[tuple[int, str, bytes]]:
        """The seq, kind and JSON of every record of these kinds, for summing up a journal."""
        columns = "SELECT seq, kind, CAST(body AS BLOB) FROM record"
        while True:
            rows = self._select(columns, "seq > ?", (after,), kinds, BIG_CHUNK)
            for seq, kind, stored in rows:
                with contextlib.suppress(DamagedBody):
                    yield seq, kind, self._unpack(seq, stored)
            if len(rows) < BIG_CHUNK:
                return
            after = rows[-1][0]

    def counts(self) -> dict[str, int]:
        """How many records there are of each kind."""
        return dict(self._ask("SELECT kind, count(*) FROM record GROUP BY kind"))

    def follow(
        self, after: int = 0, kinds: Set[str] | None = None, stop: Event | None = None, timeout: float | None = None
    ) -> Iterator[Record]:
        stop = stop or Event()
        fast, slow = POLL_S
        pause, last_record_at = fast, time.monotonic()
        self._version = None
        while not stop.is_set():
            if self.changed():
                for record in self.read(after, kinds):
                    after, pause = record.seq, fast
                    yield record
                    last_record_at = time.monotonic()
                    if stop.is_set():
                        return
            elif timeout is not None and time.monotonic() - last_record_at >= timeout:
                return
            else:
                stop.wait(pause)
                pause = min(slow, pause * 1.3)

    def changed(self) -> bool:
        """Whether anything was committed since the last call; True the first time."""
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
        rows = self._ask("SELECT CAST(body AS BLOB) FROM summary")
        if not rows:
            return None
        try:
            return from_json(rows[0][0], RunSummary)
        except (msgspec.DecodeError, UnicodeDecodeError, TypeError) as error:
            raise damaged(self._folder.journal, f"its summary: {error}") from None

    def head(self) -> Head | None:
        """The newest signed end of the journal; None if it is not chained."""
        if not self.is_chained:
            return None
        rows = self._ask("SELECT seq, chain, CAST(body AS BLOB), key, signature FROM summary")
        if not rows:
            return None
        seq, chain, body, key, signature = rows[0]
        if not isinstance(seq, int) or not isinstance(chain, bytes) or not isinstance(body, bytes):
            raise damaged(self._folder.journal, "its head is not readable")
        return Head(
            run_id=self.run_id, seq=seq, chain=chain, summary=digest(body), key=str(key),
            signature=signature if isinstance(signature, bytes) else b"",
        )  # fmt: skip

    def links(self, after: int = 0) -> Iterator[tuple[int, Record, bytes | None]]:
        """Every record after a number with its seq and hash, to verify the chain."""
        chain = "chain" if self.is_chained else "NULL"
        columns = _COLUMNS.replace(" FROM", f", {chain} FROM")
        while True:
            rows = self._ask(f"{columns} WHERE seq > ? ORDER BY seq LIMIT ?", (after, BIG_CHUNK))
            for row in rows:
                yield row[0], self._record(row[:5]), row[5] if isinstance(row[5], bytes) else None
            if len(rows) < BIG_CHUNK:
                return
            after = rows[-1][0]

    def link(self, seq: int) -> bytes | None:
        """The hash of one record, which covers every record before it; None if it has none."""
        found = self._ask("SELECT chain FROM record WHERE seq = ?", (seq,)) if self.is_chained else []
        return found[0][0] if found and isinstance(found[0][0], bytes) else None

    def check(self) -> list[str]:
        """The damage that SQLite finds in the file; empty if there is none."""
        try:
            found = [str(row[0]) for row in self._ask("PRAGMA integrity_check")]
        except UnreadableJournal as error:
            found = [error.what]
        return [] if found == ["ok"] else found

    def schema(self) -> frozenset[str]:
        """The SQL of the tables."""
        return frozenset(str(row[0]) for row in self._ask("SELECT sql FROM sqlite_schema"))

    def chained_from(self) -> int:
        """The first record that the chain covers."""
        first = self._ask("SELECT first FROM about")[0][0]
        if not isinstance(first, int):
            raise damaged(self._folder.journal, "it does not say where its chain begins")
        return first

    def attach(self, to: apsw.Connection) -> None:
        """Attach the journal to another connection as `source`, read-only."""
        uri = f"file:{quote(str(self._folder.journal))}?mode=ro"
        # A journal that could only be opened as immutable is attached as such.
        to.execute("ATTACH ? AS source", (uri + ("&immutable=1" if self._is_fixed else ""),))

    def unpacked(self, *stored: Any) -> str:
        """The text of a stored body, as SQL's `unpacked(seq, CAST(body AS BLOB))`."""
        try:
            return self._unpack(*stored).decode(errors="replace")
        except (ValueError, TypeError):
            return ""

    def close(self) -> None:
        self._connection.close()

    def _select(
        self,
        columns: str,
        where: str,
        values: Sequence[apsw.SQLiteValue],
        kinds: Set[str] | None,
        limit: int,
        *,
        newest: bool = False,
    ) -> list[tuple[Any, ...]]:
        """The first or newest rows that meet a condition, of some kinds.

        One ordered index scan per kind, merged: no sorting, however long the journal is.
        """
        if kinds is None:
            each, given = f"{columns} WHERE {where}", list(values)
        else:
            each = " UNION ALL ".join([f"{columns} WHERE kind = ? AND {where}"] * len(kinds))
            given = [value for kind in sorted(kinds) for value in (kind, *values)]
        if not each:
            return []
        return self._ask(f"{each} ORDER BY seq {'DESC' if newest else 'ASC'} LIMIT ?", (*given, limit))

    def _record(self, row: tuple[Any, ...]) -> Record:
        """A record; one of kind `lost` if its bytes are damaged."""
        seq, v, when, kind, stored = row
        try:
            name, body = kind.decode(), self._unpack(seq, stored)
            # Users parse it; here only check that it is text.
            if not body or not (body.isascii() or body.decode()):
                raise DamagedBody("it is empty")
            return Record(seq=seq, run_id=self.run_id, time=float(when), kind=name, body=msgspec.Raw(body), v=int(v))
        except (ValueError, TypeError, AttributeError) as error:
            why = str(error) if isinstance(error, DamagedBody) else "its bytes are not what was written"
            lost = LostRecord(kind=str(kind or b"", "utf-8", "replace"), reason=f"the journal is damaged here: {why}")
            moment = when if isinstance(when, float) else 0.0
            return Record(seq=seq, run_id=self.run_id, time=moment, kind=LOST, body=msgspec.Raw(encode_body(lost)))

    def _find_dictionary(self, seq: int) -> Found:
        if not self.is_chained:
            return 0, None, None
        found = self._ask(_DICTIONARY, (seq,)) or [(0, self._ask(_UNTIL, (seq,))[0][0], None)]
        first, until, data = found[0]
        return first, until, data

    def _ask(self, sql: str, values: tuple[apsw.SQLiteValue, ...] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(
                sql, [min(v, _LARGEST) if isinstance(v, int) else v for v in values]
            ).fetchall()
        except apsw.Error as error:
            raise explain(error, self._folder.journal) from error
        except UnicodeDecodeError as error:
            raise damaged(self._folder.journal, error) from None


def _escape(text: str) -> str:
    """A text for LIKE, without wildcards."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _alive(method: WeakMethod[Callable[..., Any]]) -> Callable[..., Any]:
    """The method of a reader, which is alive because it is in use."""
    found = method()
    assert found is not None
    return found
