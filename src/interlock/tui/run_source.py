"""RunSource: the runs that the terminal UI shows and steers, with its configuration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..config import Config
from ..core import InvalidState
from ..journal import Store
from ..link import TIMEOUT_S
from ..report import AllRuns

if TYPE_CHECKING:
    from ..link import HubClient


class RunSource(AllRuns):
    """`hub_name` is the hub's address as the user gave it, `timeout` how long we wait for an answer of a run."""

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
        super().__init__(store, hub)
        self.config, self.hub_name, self.timeout = config, hub_name, timeout
        self.checkpoint_store = checkpoint_store

    def workspace(self, run_id: str) -> Path:
        """The folder that a run works in, where it is on this machine."""
        if not self.is_here(run_id):
            raise InvalidState("the run's files are on another machine", todo="Use interlock top there.")
        spec = self.folder(run_id).spec()
        if spec.workspace is None:
            raise InvalidState("the run has no workspace", todo="Only runs with a workspace have checkpoints.")
        return Path(spec.workspace)
