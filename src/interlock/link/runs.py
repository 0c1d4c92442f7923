"""Runs: those of this machine's store and, where one is given, those that a hub knows; asked in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..control import Request, RequestOutcome
from ..core import InvalidState, NotFound
from ..journal import RunFolder, Store
from .owner_client import Notice, ask_owner

if TYPE_CHECKING:
    from .hub_client import HubClient


class Runs:
    """Where runs are, and how a request gets to them. `ask` takes time: not for a screen's own thread."""

    def __init__(self, store: Store, hub: HubClient | None = None) -> None:
        self.store, self.hub = store, hub

    def is_here(self, run_id: str) -> bool:
        """Whether the run's folder is in this machine's store."""
        return is_plain_name(run_id) and (self.store.root / run_id).is_dir()

    def host_of(self, run_id: str) -> str | None:
        """The other machine that a run is on; None if it is here or unknown."""
        if self.hub is None or self.is_here(run_id):
            return None
        return next((run.host for run in self.hub.runs() if run.summary.run_id == run_id), None)

    def folder(self, run_id: str) -> RunFolder:
        """The folder of a run of this machine, by its whole id."""
        if self.is_here(run_id):
            return RunFolder(self.store.root / run_id)
        host = self.host_of(run_id)
        if host is not None:
            raise InvalidState(f"the files of this run are on {host}", todo=f"Look at them on {host}.")
        raise NotFound(f"there is no run {run_id[:80]!r}", todo="It may have been removed.")

    def ask(self, request: Request, timeout: float, notice: Notice) -> RequestOutcome:
        """Send a request to its run, here or elsewhere, and wait for its one answer."""
        run_id = request.target.run_id
        if self.hub is not None and not self.is_here(run_id):
            return self.hub.ask(request, timeout=timeout, notice=notice)
        return ask_owner(self.folder(run_id), request, timeout=timeout, notice=notice)

    def close(self) -> None:
        if self.hub is not None:
            self.hub.close()


def is_plain_name(name: str) -> bool:
    """Whether a name can be that of a run's folder, and of nothing outside the store."""
    return bool(name) and name[0] != "." and not any(c in name for c in "/\\\0") and len(name) <= 200
