"""The run's workspace: checkpoints that know what the run changed itself and what not."""

from __future__ import annotations

from pathlib import Path

from ..checkpoint import Checkpoints, Restored
from ..config import Config
from ..core import CheckpointInfo, Clock, SystemClock
from .causes import OWN


class RunWorkspace:
    """The checkpoint room as one run uses it."""

    def __init__(self, checkpoints: Checkpoints) -> None:
        self.checkpoints = checkpoints

    def create(self, label: str, step: int, cause: str) -> CheckpointInfo:
        """Keep the workspace as it is now."""
        return self.checkpoints.create(label, step, cause, own=cause in OWN)

    def restore(self, checkpoint_id: str, paths: tuple[str, ...]) -> Restored:
        """Take back what the run changed since; what is not known to be its work is named and left alone."""
        own = self.checkpoints.own_changes(checkpoint_id)
        return self.checkpoints.restore(checkpoint_id, paths, own_changes=own)

    def close(self) -> None:
        self.checkpoints.close()


def open_workspace(
    workspace: Path,
    config: Config,
    run_id: str,
    store: Path | None = None,
    clock: Clock | None = None,
    *,
    name: str = "",
) -> RunWorkspace:
    """The checkpoints of a workspace, held for this run."""
    found = Checkpoints.open(
        workspace,
        store,
        config=config.checkpoints,
        clock=clock or SystemClock(),
        run_id=run_id,
        run_name=name,
    )
    return RunWorkspace(found)
