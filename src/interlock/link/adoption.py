"""Starts a new front for a parked run whose front is gone, after a kill, a log-out or a reboot."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ..core import own_command
from ..journal import RunFolder, has_front, parked_runs

FRONT = "interlock.adapters.command.adoption"


def adopt(folder: RunFolder) -> None:
    """Start a separate process that takes over the run."""
    subprocess.Popen(
        own_command(FRONT, str(folder.path)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def adopt_orphans(store: Path) -> int:
    """Adopt every parked run of a store that has neither owner nor front; returns how many."""
    return sum(adopt_orphan(folder) for folder in parked_runs(store))


def adopt_orphan(folder: RunFolder) -> bool:
    """Adopt a parked run if it has neither owner nor front; returns whether it did."""
    orphaned = is_orphaned(folder)
    if orphaned:
        adopt(folder)
    return orphaned


def is_orphaned(folder: RunFolder) -> bool:
    """Whether nothing supervises the run: it has neither owner nor front."""
    return folder.owner() is None and not has_front(folder.path)
