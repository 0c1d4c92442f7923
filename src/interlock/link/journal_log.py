"""JournalLog: a run's journal as the endpoint's log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ..control import CONTROL_KINDS, ControlState, LogEntry
from ..core import Record
from ..journal import JournalEntry, JournalWriting


class JournalLog:
    """Writes entries byte for byte."""

    def __init__(self, journal: JournalWriting) -> None:
        self._journal = journal

    def append_atomic(self, entries: Sequence[LogEntry], state: ControlState, *, durable: bool) -> int:
        return self.write([JournalEntry(entry.kind, msgspec.Raw(entry.body)) for entry in entries], state, durable)

    def write(self, rows: list[JournalEntry], state: ControlState, durable: bool) -> int:
        """Put rows into the journal; a run that keeps a summary stores it with them."""
        return self._journal.append(rows, durable=durable)

    def read(self) -> Iterable[Record]:
        reader = self._journal.reader()
        try:
            yield from reader.read(kinds=CONTROL_KINDS)
        finally:
            reader.close()
