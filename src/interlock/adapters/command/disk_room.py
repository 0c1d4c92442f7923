"""DiskRoom: pauses a run while the disk of its workspace is nearly full, and lets it go on when there is room."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from ...core import Hold
from ...runtime import Supervisor

SHARE, MOST = 10, 5 * 1024**3
"""A run is paused while less than a tenth of the disk or 5 GB is free, whichever is less."""


class DiskRoom:
    """For one run. A disk that was nearly full before is not the run's doing: it may use half of what was left."""

    def __init__(self, supervisor: Supervisor, workspace: Path) -> None:
        self._supervisor, self._workspace = supervisor, workspace
        free, size = self._room()
        self._least = min(size // SHARE, MOST, free // 2)
        self._held = False

    def check(self) -> None:
        """Pause or continue the run."""
        free, _ = self._room()
        run = self._supervisor.run
        if self._held and run.status == "running":
            # A person lets it go on: it may use half of what is left.
            self._held, self._least = False, free // 2
        elif self._held and free > self._least * 11 // 10:
            self._held = not run.resume()
        elif not self._held and free < self._least and run.status == "running":
            self._held = True
            words = f"the disk is nearly full: {free >> 20:,} MB are free; the run goes on when there is room"
            self._supervisor.executor.carry_out(Hold(words, "recovery"))

    def _room(self) -> tuple[int, int]:
        with contextlib.suppress(OSError):
            disk = os.statvfs(self._workspace)
            return disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize
        return 0, 0
