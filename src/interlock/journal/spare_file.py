"""SpareFile: blocks of a small disk that are kept alongside a journal, and given up when there are no others."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from ..core import allocate
from .database import KEPT_WAL_BYTES, SHORT_BYTES, SMALL_DISK, free_bytes, keep_of
from .durable_files import FILE_MODE

SPARE_BYTES = KEPT_WAL_BYTES // 8
"""As much as the write-ahead log of a small disk holds: all of it may be new to the journal's file."""

PIECE = 64 * 1024


class SpareFile:
    """Made where a disk is small and has room; given up piece by piece."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with contextlib.suppress(OSError):
            free = free_bytes(os.statvfs(path.parent))
            if SHORT_BYTES < free < SMALL_DISK:
                handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
                try:
                    allocate(handle, keep_of(free, SPARE_BYTES))
                finally:
                    os.close(handle)

    def give_up(self) -> bool:
        """Give some of it back to the disk; False when nothing is left."""
        try:
            size = self._path.stat().st_size
            os.truncate(self._path, max(0, size - PIECE))
        except OSError:
            return False
        return size > 0

    def remove(self) -> None:
        """The journal is closed."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
