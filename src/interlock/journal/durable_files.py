"""Small files that are either complete or absent after a power cut."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from ..core import FILE_MODE, write_whole

FOLDER_MODE = 0o700


def write_durably(path: Path, data: bytes) -> None:
    """Replace a file's content atomically; when this returns, it is on the disk."""
    write_whole(path, data, sync=True)
    sync_folder(path.parent)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock out other processes and threads, to read a file and write it again."""
    lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def sync_folder(folder: Path) -> None:
    """Make names that were added to or removed from a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
