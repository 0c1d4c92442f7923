"""Place: the runs that are looked at and steered, on this machine and on a hub."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ..config import Config
from ..control import Answer, Request
from ..core import InvalidState, NotFound, RunSpec
from ..journal import Entry, Journal, RunFolder, RunSummary, Store
from ..link import ask_owner
from ..report import Fleet, RunRow, Story

if TYPE_CHECKING:
    from ..link.hub_client import HubClient

TIMEOUT_S = 60.0
"""How long an answer is waited for; then it is unknown."""


class Place:
    """Where runs come from, and the way to them. `rows`, `open` and `ask` take time: not for the screen's thread."""

    def __init__(
        self,
        store: Store,
        config: Config,
        *,
        hub: HubClient | None = None,
        hub_name: str = "",
        checkpoint_store: Path | None = None,
        timeout: float = TIMEOUT_S,
    ) -> None:
        self.store, self.config, self.hub_name = store, config, hub_name
        self.checkpoint_store = checkpoint_store
        self._hub, self._timeout = hub, timeout
        self._fleet = Fleet(store, hub)
        self._copies = tempfile.TemporaryDirectory(prefix="interlock-top-") if hub is not None else None

    @property
    def problem(self) -> str | None:
        """Why the list of runs may be incomplete."""
        return self._fleet.problem

    def rows(self, *, sparks: bool = True) -> list[RunRow]:
        """Every run, the newest first; without `sparks` it takes less time."""
        return self._fleet.rows(sparks=sparks)

    def is_local(self, run_id: str) -> bool:
        """Whether the run's folder is on this machine."""
        return (self.store.root / run_id).is_dir()

    def open(self, run_id: str) -> Story | Copy:
        """A run's story, to be used in one thread and closed there."""
        if self.is_local(run_id):
            return Story.open(RunFolder(self.store.root / run_id))
        if self._hub is None or self._copies is None:
            raise NotFound(f"there is no run {run_id!r} any more", todo="It was pruned, or the store was moved.")
        return Copy(self._hub, run_id, Path(self._copies.name))

    def ask(self, request: Request, notice: Callable[[str], None]) -> Answer:
        """Send a request to its run and wait for the one answer."""
        run_id = request.target.run_id
        if self.is_local(run_id):
            folder = RunFolder(self.store.root / run_id)
            return ask_owner(folder, request, timeout=self._timeout, notice=notice)
        if self._hub is not None:
            return self._hub.ask(request, timeout=self._timeout, notice=notice)
        return Answer(outcome="failure", message="the run is gone", code="not_found")

    def workspace(self, run_id: str) -> Path:
        """The folder that a run works in, where it is on this machine."""
        if not self.is_local(run_id):
            raise InvalidState("the run's files are on another machine", todo="Use interlock top there.")
        spec = RunFolder(self.store.root / run_id).spec()
        if spec.workspace is None:
            raise InvalidState("the run has no workspace", todo="Checkpoints are made of runs that work in a folder.")
        return Path(spec.workspace)

    def close(self) -> None:
        if self._hub is not None:
            self._hub.close()
        if self._copies is not None:
            self._copies.cleanup()


class Copy(Story):
    """The story of a run on another machine, from the hub's records, by way of a journal of our own.

    `is_unknown` says that nothing was heard of its host for long.
    """

    def __init__(self, hub: HubClient, run_id: str, root: Path) -> None:
        self._hub, self._run_id, self._last = hub, run_id, 0
        summary = self._remote()
        store = Store(root / str(len(list(root.iterdir()))))
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
        """Get what the hub has beyond what is here."""
        records = self._hub.records(self._run_id, self._last)
        entries = [Entry(kind=each.kind, body=msgspec.Raw(each.body), time=each.time, v=each.v) for each in records]
        if records:
            self._last = records[-1].seq
        self._journal.append(entries, durable=True, summary=self._remote())

    def close(self) -> None:
        super().close()
        self._journal.close()

    def _remote(self) -> RunSummary:
        found = next((run for run in self._hub.runs() if run.summary.run_id == self._run_id), None)
        if found is None:
            raise NotFound(
                f"the hub does not know run {self._run_id!r} any more", todo="Look at the list of runs again."
            )
        self.is_unknown = found.is_unknown
        return found.summary
