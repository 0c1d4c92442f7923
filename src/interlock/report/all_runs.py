"""AllRuns: every run of this machine and of a hub, listed, opened and asked in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core import NotFound
from ..journal import RunFolder, Store
from ..link import Runs
from .copy import Copies
from .fleet import Fleet, RunRow
from .inbox import InboxItem, read_inbox
from .story import Story

if TYPE_CHECKING:
    from ..link import HubClient


class AllRuns(Runs):
    """`rows` and `open` take time, as `ask` does."""

    def __init__(self, store: Store, hub: HubClient | None = None) -> None:
        super().__init__(store, hub)
        self._fleet = Fleet(store, hub)
        self._copies = Copies(hub) if hub is not None else None

    @property
    def problem(self) -> str | None:
        """Why the list of runs may be incomplete."""
        return self._fleet.problem

    def rows(self, *, sparks: bool = True) -> list[RunRow]:
        """Every run, the newest first; without `sparks` it takes less time."""
        return self._fleet.rows(sparks=sparks)

    def inbox(self, now: float | None = None) -> list[InboxItem]:
        """What needs a person."""
        self.rows(sparks=False)
        return read_inbox(self.store, self.hub, self._fleet.needing(), now=now)

    def open(self, run_id: str) -> Story:
        """A run's story, to be used in one thread and closed there."""
        if self.is_here(run_id):
            return Story.open(RunFolder(self.store.root / run_id))
        if self._copies is not None:
            return self._copies.open(run_id)
        raise NotFound(f"there is no run {run_id[:80]!r}", todo="It may have been removed.")

    def close(self) -> None:
        super().close()
        if self._copies is not None:
            self._copies.close()
