"""Flush: makes files durable in the background; a restore waits for it, a checkpoint does not."""

from __future__ import annotations

import _thread
import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from .folder_descent import opened


class Flush:
    """Files that wait to be synced, and the thread that syncs them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[Path, None] = {}
        self._mark = 0
        self.flushed = 0
        """The newest frame that is on the disk for certain."""
        self._idle = threading.Event()
        self._idle.set()
        self._error: OSError | None = None

    def later(self, paths: Iterable[Path], mark: int) -> None:
        """Have files synced soon; `mark` is the newest frame in them."""
        with self._lock:
            self._waiting.update(dict.fromkeys(paths))
            self._mark = max(self._mark, mark)
            if self._idle.is_set() and self._waiting:
                self._idle.clear()
                # Not threading.Thread: its start waits until the thread runs, which takes long on a busy machine.
                _thread.start_new_thread(self._work, ())

    def wait(self) -> None:
        """Return when everything is on the disk; raises the error if that failed."""
        self._idle.wait()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _work(self) -> None:
        while True:
            with self._lock:
                paths, mark = list(self._waiting), self._mark
                self._waiting.clear()
                if not paths:
                    self._idle.set()
                    return
            try:
                for path in paths:
                    sync(path)
                self.flushed = mark
            except OSError as error:
                self._error = error


def sync(path: Path) -> None:
    """Sync a file or folder; one that is gone does not matter."""
    with suppress(FileNotFoundError), opened(path, os.O_RDONLY | os.O_CLOEXEC) as fd:
        os.fsync(fd)
