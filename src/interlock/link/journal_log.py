"""JournalLog: a run's journal as the endpoint's log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from ..control import CONTROL_KINDS, ControlState, Entry
from ..core import Record
from ..journal import Entry as JournalEntry
from ..journal import RunSummary
from ..journal.interface import Writing


class JournalLog:
    """Writes entries byte for byte. `summarize` makes the run's row, stored in the same transaction."""

    def __init__(self, journal: Writing, summarize: Callable[[ControlState], RunSummary | None] | None = None) -> None:
        self._journal, self._summarize = journal, summarize

    def append_atomic(self, entries: Sequence[Entry], state: ControlState, *, durable: bool) -> int:
        rows = [JournalEntry(entry.kind, msgspec.Raw(entry.body)) for entry in entries]
        summary = self._summarize(state) if self._summarize is not None else None
        return self._journal.append(rows, durable=durable, summary=summary)

    def read(self) -> Iterable[Record]:
        reader = self._journal.reader()
        try:
            yield from reader.read(kinds=CONTROL_KINDS)
        finally:
            reader.close()
