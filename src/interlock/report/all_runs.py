"""AllRuns: all runs of this machine and of a hub, listed, opened and steered alike; copies of remote ones."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ..core import NotFound, RunSpec
from ..journal import Journal, JournalEntry, RunFolder, RunSummary, Store
from ..link import Runs
from .fleet import Fleet, RunRow
from .inbox import InboxItem, read_inbox
from .story import Story

if TYPE_CHECKING:
    from ..link import HubClient


class AllRuns(Runs):
    """All runs. `rows`, `open` and `ask` may take a while."""

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


REMOVAL_S = 2.0
"""How long removing copies that are still being read may take."""


class Copies:
    """A temporary folder of copies, removed at the end. Thread-safe."""

    def __init__(self, hub: HubClient) -> None:
        self._hub = hub
        self._root = Path(tempfile.mkdtemp(prefix="interlock-copies-"))

    def open(self, run_id: str) -> Copy:
        """The run as the hub has it now."""
        return Copy(self._hub, run_id, Path(tempfile.mkdtemp(dir=self._root)))

    def close(self) -> None:
        """Remove them. A reader in another thread may write a last file meanwhile."""
        deadline = time.monotonic() + REMOVAL_S
        while self._root.exists() and time.monotonic() < deadline:
            shutil.rmtree(self._root, ignore_errors=True)
            time.sleep(0.01)


class Copy(Story):
    """The story of a run on another machine, from the hub's records, in a local journal under `root`.

    `is_unknown`: its host has not been heard of for long.
    """

    def __init__(self, hub: HubClient, run_id: str, root: Path) -> None:
        self._hub, self._run_id, self._last = hub, run_id, 0
        summary = self._remote()
        store = Store(root)
        spec = RunSpec(
            run_id=run_id,
            name=summary.name,
            task=summary.task,
            model=summary.model,
            adapter=summary.adapter,
            workspace=summary.workspace,
        )
        folder = store.create(spec)
        self._journal = Journal.open(folder)
        super().__init__(folder)
        self.fetch()
        self._load()

    def fetch(self) -> None:
        """Fetch newer records from the hub."""
        records = self._hub.records(self._run_id, self._last)
        entries = [
            JournalEntry(kind=each.kind, body=msgspec.Raw(each.body), time=each.time, v=each.v) for each in records
        ]
        if records:
            self._last = records[-1].seq
        self._journal.append(entries, durable=True, summary=self._remote())

    def close(self) -> None:
        super().close()
        self._journal.close()

    def _remote(self) -> RunSummary:
        found = next((run for run in self._hub.runs() if run.summary.run_id == self._run_id), None)
        if found is None:
            raise NotFound(f"the hub no longer has run {self._run_id!r}", todo="Reload the list of runs.")
        self.is_unknown = found.is_unknown
        return found.summary
