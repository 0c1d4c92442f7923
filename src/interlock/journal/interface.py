"""What every journal can do, on a disk or in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from threading import Event
from typing import Protocol, Self

from msgspec import Struct

from ..core import Record
from .entry import JournalEntry
from .summary import RunSummary


class JournalProblem(Struct, frozen=True):
    """What is wrong with writing, since when, and what it has cost.

    `waiting` entries are held in memory and are written as soon as that works again; `lost` ones are gone, and a
    record of kind `lost` says so where they belong. `over` is true when writing works again.
    """

    reason: str
    since: float
    waiting: int = 0
    lost: int = 0
    over: bool = False


class JournalReading(Protocol):
    """Read a run's records; positions are sequence numbers, from 1 without a gap."""

    def read(self, after: int = 0, kinds: Set[str] | None = None, limit: int | None = None) -> Iterator[Record]:
        """Records with seq > `after`, in order; only of some kinds, only the first `limit` of them."""
        ...

    def follow(
        self, after: int = 0, kinds: Set[str] | None = None, stop: Event | None = None, timeout: float | None = None
    ) -> Iterator[Record]:
        """Like read, then what is added, each once; ends when `stop` is set or nothing came for `timeout` seconds."""
        ...

    def last(self, kind: str | None = None) -> Record | None:
        """The newest record, of one kind or of any."""
        ...

    def count(self, kind: str | None = None) -> int:
        """How many records there are, of one kind or in all."""
        ...

    def summary(self) -> RunSummary | None:
        """The run in one row."""
        ...

    def close(self) -> None:
        """Close the journal."""
        ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class JournalWriting(Protocol):
    """Add to a run's records. Thread-safe."""

    run_id: str

    def append(
        self, entries: Sequence[JournalEntry], *, durable: bool = False, summary: RunSummary | None = None
    ) -> int:
        """Add entries, all or none, and give the last one's seq (0 if they could not be kept).

        Without `durable` this never waits and never fails for the disk's sake: see `trouble`. With it, everything up to
        here is on the disk when it returns; if that cannot be, it raises InterlockError and the entries are not added.
        The summary is stored in the same transaction.
        """
        ...

    def flush(self) -> None:
        """Return when everything appended so far is on the disk; raise InterlockError if it cannot be."""
        ...

    def trouble(self) -> JournalProblem | None:
        """What keeps the journal from being complete; None if nothing does."""
        ...

    def reader(self) -> JournalReading:
        """A separate reader."""
        ...

    def close(self) -> None:
        """Write what is pending, and close. A second call does nothing."""
        ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
