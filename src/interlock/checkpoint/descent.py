"""Descent: folders below a root opened one name at a time, never through a link."""

from __future__ import annotations

import os
from types import TracebackType

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""How a file is opened: never through a link, never waiting for a FIFO."""

HELD = 64
"""Folders of one path that stay open at once; a deeper one is reached again from the root."""


def open_root(path: str | os.PathLike[str]) -> int:
    """The workspace's own folder as a descriptor; a link in its place is an error."""
    return os.open(path, FOLDER_FLAGS)


class Descent:
    """Keeps the folders of the last path open, so that neighbours cost one open each."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._names: list[str] = []
        self._held: list[int] = []

    def folder(self, path: str) -> int:
        """The descriptor of a folder, valid until the next call; OSError if it is none or a link is in the way."""
        names = path.split("/") if path else []
        same = 0
        for mine, wanted in zip(self._names, names, strict=False):
            if mine != wanted:
                break
            same += 1
        self._shrink(same)
        for name in names[len(self._held) :] if len(names) <= HELD else ():
            self._push(name)
        if len(names) > HELD:
            return self._far(names)
        return self._held[-1] if self._held else self._root

    def close(self) -> None:
        self._shrink(0)

    def __enter__(self) -> Descent:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _push(self, name: str) -> None:
        above = self._held[-1] if self._held else self._root
        self._held.append(os.open(name, FOLDER_FLAGS, dir_fd=above))
        self._names.append(name)

    def _far(self, names: list[str]) -> int:
        """A folder too deep to hold its whole path: only the last descriptor is kept."""
        self._shrink(0)
        at = os.dup(self._root)
        try:
            for name in names:
                below = os.open(name, FOLDER_FLAGS, dir_fd=at)
                os.close(at)
                at = below
        except OSError:
            os.close(at)
            raise
        # Held under a name that no path can have, so that the next call closes it.
        self._held.append(at)
        self._names.append("/")
        return at

    def _shrink(self, length: int) -> None:
        while len(self._held) > length:
            os.close(self._held.pop())
            self._names.pop()
