"""An independent look at a folder: everything that a restore promises, by plain calls. Names need not be UTF-8: paths are bytes."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

Seen = tuple[object, ...]


def picture(root: Path, *, times: bool = True) -> dict[bytes, Seen]:
    """Path to (type, mode, content or target, time); folders with whether they are empty."""
    top = os.fsencode(root)
    seen: dict[bytes, Seen] = {}
    waiting = [b""]
    while waiting:
        here = waiting.pop()
        for name in os.listdir(os.path.join(top, here)):
            path = os.path.join(here, name)
            full = os.path.join(top, path)
            found = os.lstat(full)
            mtime = found.st_mtime_ns if times else 0
            if stat.S_ISDIR(found.st_mode):
                seen[path] = ("folder", found.st_mode, not os.listdir(full), mtime)
                waiting.append(path)
            elif stat.S_ISLNK(found.st_mode):
                seen[path] = ("link", os.readlink(full), mtime)
            elif stat.S_ISREG(found.st_mode):
                seen[path] = ("file", found.st_mode, found.st_size, _digest(full), mtime)
            else:
                seen[path] = ("special", found.st_mode)
    return seen


def times_are_fine(folder: Path) -> bool:
    """Whether two changes right after each other have different times here."""
    path = folder / "times"
    for _ in range(50):
        path.write_bytes(b"1")
        first = path.stat()
        path.write_bytes(b"2")
        if path.stat().st_ctime_ns == first.st_ctime_ns:
            return False
    path.unlink()
    return True


def names(folder: Path) -> list[str]:
    """What lies in a folder."""
    return sorted(os.listdir(folder))


def _digest(path: bytes) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
