"""Filmstrip: a picture after every chunk and at every look, with what was decided about it, for looking at later."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import structlog

from ..core import BadInput
from ..journal_records import InterventionEvent
from .screenshot.backend import CaptureError, ScreenshotBackend

log = structlog.get_logger("interlock.gui")


class Filmstrip:
    """Numbered pictures and `film.jsonl` in a folder: `interlock gui analyze` takes the pictures again."""

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
            self._keep(lambda: shot.save(self.folder / name))
            self._line({"time": shot.timestamp, "picture": name, "chunk": done, "path": path})

    def event(self, event: InterventionEvent) -> None:
        """A look: the picture that it was about, and the verdict."""
        with self._lock:
            self._count += 1
            name = f"{self._count:06d}.jpg"
            source = Path(event.screenshot_path) if event.screenshot_path else None
            if source is not None:
                self._keep(lambda: (self.folder / name).write_bytes(source.read_bytes()))
            self._line({"time": time.time(), "picture": name if source else None, "look": event})

    def _line(self, body: dict[str, object]) -> None:
        def write() -> None:
            with (self.folder / "film.jsonl").open("ab") as file:
                file.write(msgspec.json.encode(body) + b"\n")

        self._keep(write)

    def _keep(self, write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            log.warning("the recording cannot be written", error=str(error))
