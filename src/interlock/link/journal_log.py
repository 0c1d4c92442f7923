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
    """Writes entries byte for byte. `summarize` makes the run's row, stored in the same transaction.

    `on_result` gets every RESULT that was written, to be counted.
    """

    def __init__(
        self,
        journal: Writing,
        summarize: Callable[[ControlState], RunSummary | None] | None = None,
        on_result: Callable[[bytes], None] | None = None,
    ) -> None:
        self._journal, self._summarize, self._on_result = journal, summarize, on_result

    def append_atomic(self, entries: Sequence[Entry], state: ControlState, *, durable: bool) -> int:
        rows = [JournalEntry(entry.kind, msgspec.Raw(entry.body)) for entry in entries]
        summary = self._summarize(state) if self._summarize is not None else None
        seq = self._journal.append(rows, durable=durable, summary=summary)
        if self._on_result is not None:
            for entry in entries:
                if entry.kind == "result":
                    self._on_result(entry.body)
        return seq

    def read(self) -> Iterable[Record]:
        reader = self._journal.reader()
        try:
            yield from reader.read(kinds=CONTROL_KINDS)
        finally:
            reader.close()
