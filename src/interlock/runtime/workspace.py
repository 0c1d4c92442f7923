"""The run's workspace: checkpoints that track what the run itself changed."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..calls import word_set
from ..checkpoint import ABSENT, Checkpoints, Restored
from ..config import Config
from ..core import CheckpointInfo, Clock, InterlockError, SystemClock
from .pipeline_values import MEANWHILE, OWN

if TYPE_CHECKING:
    from ..intervene import ChangedFiles

SOURCES = word_set(
    """py pyi js jsx ts tsx mjs cjs c h cc cpp hpp cs go rs java kt kts swift rb php pl lua r jl scala ex exs erl hs
    ml clj dart vue svelte html css scss sass less sql sh bash zsh ps1 toml yaml yml ini cfg conf md mdx rst proto
    graphql gradle tf ipynb cmake"""
)
"""The endings of files that people write."""
SOURCE_NAMES = frozenset(("Makefile", "Dockerfile", "CMakeLists.txt", "requirements.txt", "package.json", "go.mod"))
PRODUCED = word_set(
    """build dist target out node_modules __pycache__ coverage htmlcov vendor bin obj site-packages downloads data
    checkpoints logs tmp"""
)
"""Folders that calls fill."""


def is_source(path: str) -> bool:
    """Whether a file is one that people write, by its name and place: a build's output, data and downloads are not."""
    *folders, name = path.split("/")
    if any(folder in PRODUCED or folder.startswith(".") or folder.endswith(".egg-info") for folder in folders):
        return False
    return name in SOURCE_NAMES or ("." in name and name.rpartition(".")[2].lower() in SOURCES)


class RunWorkspace:
    """The checkpoints of a workspace, as one run uses them."""

    def __init__(self, checkpoints: Checkpoints) -> None:
        self.checkpoints = checkpoints
        self.newest: CheckpointInfo | None = None
        """The newest checkpoint that this process made."""
        self._settled = False

    def create(self, label: str, step: int, cause: str) -> CheckpointInfo:
        """Make a checkpoint of the workspace as it is now."""
        self._settled = False
        self.newest = self.checkpoints.create(label, step, cause, own=cause in OWN)
        return self.newest

    def settle(self) -> CheckpointInfo | None:
        """Make the run's last checkpoint, scanning everything; None for a run without checkpoints."""
        newest = self.newest
        if newest is not None and not self._settled:
            # Until it ends, changes made by a process without steps are its own work.
            self.newest = self.checkpoints.settle(step=newest.step, own=newest.cause == MEANWHILE)
            self._settled = True
        return self.newest

    def restore(self, checkpoint_id: str, paths: tuple[str, ...]) -> Restored:
        """Undo the run's changes since a checkpoint; changes that may not be its own are reported and left alone."""
        self._settled = False
        own = self.checkpoints.own_changes(checkpoint_id)
        return self.checkpoints.restore(checkpoint_id, paths, own_changes=own)

    def changed_since(self, checkpoint_id: str) -> ChangedFiles:
        """What the run changed since a checkpoint: what can go back, and what its calls produced.

        What it removed goes back whatever it is: nothing is lost by it.
        """
        from ..intervene import ChangedFiles

        changed, tracked = self.checkpoints.own_changes(checkpoint_id).states, self.checkpoints.tracked()
        files = {path for path, state in changed.items() if state == ABSENT or path in tracked or is_source(path)}
        kept = (path for path in changed if path not in files and ".git" not in path.split("/"))
        return ChangedFiles(tuple(sorted(files)), tuple(sorted(kept)))

    def close(self) -> None:
        with suppress(InterlockError):
            # The run has ended, even if its last checkpoint fails.
            self.settle()
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
    """The checkpoints of a workspace, locked for this run."""
    found = Checkpoints.open(
        workspace,
        store,
        config=config.checkpoints,
        clock=clock or SystemClock(),
        run_id=run_id,
        run_name=name,
        watch=True,
    )
    return RunWorkspace(found)
