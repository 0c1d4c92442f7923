"""Descent: opens folders below a root one name at a time, never through a link."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..core import open_below

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Flags for reading a file: never through a link, never waiting for a FIFO."""

HELD = 64
"""Folders of one path that stay open at once; deeper ones are opened from the last of them each time."""

_ONE_BY_ONE = (errno.ENOSYS, errno.EPERM, errno.EAGAIN, errno.ENAMETOOLONG)
"""If the kernel cannot open a whole path safely, its folders are opened one by one."""


@contextmanager
def opened(path: str | os.PathLike[str], flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> Iterator[int]:
    """A descriptor that is closed at the end of the block."""
    fd = os.open(path, flags, mode, dir_fd=dir_fd)
    try:
        yield fd
    finally:
        os.close(fd)


class Descent:
    """Keeps the folders of the last path open, so that neighbours cost one open each."""

    def __init__(self, root: int, *, apart: bool = False) -> None:
        """`apart`: the folders are far from each other, so each is opened by its whole path in one call."""
        self._root, self._apart, self._at = root, apart, ""
        self._paths: list[str] = [""]
        self._held: list[int] = [root]
        self._far = -1

    def folder(self, path: str) -> int:
        """The descriptor of a folder, valid until the next call; OSError if it is not one or a link leads there."""
        paths, held = self._paths, self._held
        if self._apart and path:
            if path == self._at and self._far >= 0:
                return self._far
            try:
                return self._jump(path)
            except OSError as error:
                if error.errno not in _ONE_BY_ONE:
                    raise
                self._apart = False
        if path == paths[-1]:
            return held[-1]
        while not path.startswith(last := f"{paths[-1]}/" if paths[-1] else ""):
            os.close(held.pop())
            paths.pop()
            if path == paths[-1]:
                return held[-1]
        names = path[len(last) :].split("/")
        if len(held) + len(names) > HELD:
            return self._reach(names)
        for name in names:
            held.append(os.open(name, FOLDER_FLAGS, dir_fd=held[-1]))
            paths.append(f"{paths[-1]}/{name}" if paths[-1] else name)
        return held[-1]

    def close(self) -> None:
        while len(self._held) > 1:
            os.close(self._held.pop())
            self._paths.pop()
        self._leave()

    def __enter__(self) -> Descent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _jump(self, path: str) -> int:
        """A folder by its whole path."""
        self._leave()
        self._far = open_below(self._root, path, FOLDER_FLAGS)
        self._at = path
        return self._far

    def _reach(self, names: list[str]) -> int:
        """A folder too deep to keep its whole path open: opened from the last one kept, keeping only the end."""
        self._leave()
        at = os.dup(self._held[-1])
        try:
            for name in names:
                below = os.open(name, FOLDER_FLAGS, dir_fd=at)
                os.close(at)
                at = below
        except OSError:
            os.close(at)
            raise
        self._far = at
        return at

    def _leave(self) -> None:
        if self._far >= 0:
            os.close(self._far)
            self._far = -1
