"""Place: the runs that are looked at and steered, on this machine and on a hub."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import Config
from ..control import Answer, Request
from ..core import InvalidState, NotFound
from ..journal import RunFolder, Store
from ..link import ask_owner
from ..report import Fleet, RunRow, Story
from ..report.copy import Copies, Copy

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
        self._copies = Copies(hub) if hub is not None else None

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
        if self._copies is None:
            raise NotFound(f"there is no run {run_id!r} any more", todo="It was pruned, or the store was moved.")
        return self._copies.open(run_id)

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
            self._copies.close()
