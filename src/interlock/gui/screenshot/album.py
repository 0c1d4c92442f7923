"""Album: the folder of saved screenshots. Filmstrip: a screenshot of every chunk and check, for later review."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import platformdirs
import structlog

from ...core import BadInput, Clock, SystemClock
from ...journal_records import InterventionEvent
from .backend import CaptureError, ScreenshotBackend
from .frame import Frame, is_unchanged
from .screenshot import NAME, Screenshot

PRUNE_EVERY = 100
"""Old pictures are removed at the start and after this many new ones."""

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
        """Save a picture unless it equals the last one. None if it cannot be saved."""
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
        """Remove our own pictures that are older than the retention; returns how many."""
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


class Filmstrip:
    """Numbered pictures and `film.jsonl` in a folder; `interlock gui analyze` accepts the pictures."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.expanduser()
        self._lock = threading.Lock()
        self._count = 0
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"cannot create the folder for --record ({error.strerror})", where=str(folder)) from None

    def chunk(self, backend: ScreenshotBackend, done: int, path: str) -> None:
        """A picture of the screen after a chunk."""
        try:
            shot = backend.capture_screen()
        except CaptureError as error:
            log.warning("no screenshot for the recording", error=str(error))
            return
        with self._lock:
            self._count += 1
            name = f"{self._count:06d}.jpg"
            self._try_write(lambda: shot.save(self.folder / name))
            self._line({"time": shot.timestamp, "picture": name, "chunk": done, "path": path})

    def event(self, event: InterventionEvent) -> None:
        """A check: its picture and its verdict."""
        with self._lock:
            self._count += 1
            name = f"{self._count:06d}.jpg"
            source = Path(event.screenshot_path) if event.screenshot_path else None
            if source is not None:
                self._try_write(lambda: (self.folder / name).write_bytes(source.read_bytes()))
            self._line({"time": time.time(), "picture": name if source else None, "look": event})

    def _line(self, body: dict[str, object]) -> None:
        def write() -> None:
            with (self.folder / "film.jsonl").open("ab") as file:
                file.write(msgspec.json.encode(body) + b"\n")

        self._try_write(write)

    def _try_write(self, write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            log.warning("the recording cannot be written", error=str(error))
