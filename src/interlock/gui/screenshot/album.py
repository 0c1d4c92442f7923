"""Album: the folder of saved pictures, and the removal of old ones."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import structlog

from ...core import Clock, SystemClock
from .frame import Frame, is_unchanged
from .names import NAME
from .screenshot import Screenshot

PRUNE_EVERY = 100
"""Old pictures are looked for at the start and after this many new ones."""

log = structlog.get_logger("interlock.gui")


class Album:
    """Saves pictures into a folder and keeps them for `retention_days`."""

    def __init__(self, folder: str | Path | None, retention_days: float = 7, clock: Clock | None = None) -> None:
        self.folder = Path(folder).expanduser() if folder else default_folder()
        self._retention_s = retention_days * 86_400
        self._clock = clock or SystemClock()
        self._since_prune = PRUNE_EVERY
        self._last: tuple[Frame, Path] | None = None

    def keep(self, screenshot: Screenshot) -> Path | None:
        """Save a picture; one that shows the same as the last is not saved twice. None if it cannot be saved."""
        frame = screenshot.frame if isinstance(screenshot.frame, Frame) else None
        if self._last and is_unchanged(self._last[0], frame) and self._last[1].exists():
            return self._last[1]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            path = screenshot.save(self.folder)
        except OSError as error:
            log.warning("a screenshot could not be saved", folder=str(self.folder), error=str(error))
            return None
        self._last = (frame, path) if frame is not None else None
        self._since_prune += 1
        if self._since_prune > PRUNE_EVERY:
            self.prune()
        return path

    def prune(self) -> int:
        """Remove our own pictures that are older than the retention; how many."""
        self._since_prune = 0
        oldest = self._clock.time() - self._retention_s
        removed = 0
        try:
            for file in self.folder.iterdir():
                if NAME.fullmatch(file.name) and file.stat().st_mtime < oldest:
                    file.unlink(missing_ok=True)
                    removed += 1
        except OSError as error:
            log.warning("old screenshots could not be removed", folder=str(self.folder), error=str(error))
        return removed


def default_folder() -> Path:
    return Path(platformdirs.user_state_dir("interlock")) / "screenshots"
