"""The locations of a user's files; safe reading of a run's files, which an agent may have replaced; atomic writing."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO, Literal

LINUX_FOLDERS = {
    "cache": ("XDG_CACHE_HOME", ".cache"),
    "config": ("XDG_CONFIG_HOME", ".config"),
    "state": ("XDG_STATE_HOME", ".local/state"),
}


def user_folder(kind: Literal["cache", "config", "state"]) -> Path:
    """The user's folder of this kind; it need not exist."""
    if sys.platform == "linux":
        variable, below_home = LINUX_FOLDERS[kind]
        named, home = os.environ.get(variable, ""), os.environ.get("HOME", "")
        if named.startswith("/"):
            return Path(named, "interlock")
        if home.startswith("/"):
            return Path(home, below_home, "interlock")
    # Another system, or neither variable is set.
    import platformdirs

    folders = platformdirs.PlatformDirs("interlock")
    return {"cache": folders.user_cache_path, "config": folders.user_config_path, "state": folders.user_state_path}[
        kind
    ]


MOST = 16 * 1024 * 1024


READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def open_regular(path: Path | str, *, below: Path | None = None, links: bool = False) -> BinaryIO:
    """Open a regular file for reading; OSError for anything else, without waiting for it.

    A link is only followed with `links`, for what an agent cannot write. `below` a folder no link is followed on the
    way, and the path does not lead out of it.
    """
    if below is None:
        handle = os.open(path, READ | (0 if links else os.O_NOFOLLOW))
    else:
        handle = _open_below(below, os.fspath(path))
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
    raise OSError(number, "not a regular file", str(path))


def _open_below(folder: Path, path: str) -> int:
    """Open a path, name by name, each relative to the folder before."""
    *names, last = Path(os.path.normpath(path)).parts or (".",)
    if last == "/" or ".." in (*names, last) or names[:1] == ["/"]:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names:
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = below
        return os.open(last, READ | os.O_NOFOLLOW, dir_fd=at)
    finally:
        os.close(at)


def read_small(path: Path | str, most: int = MOST, *, below: Path | None = None, links: bool = False) -> bytes:
    """The content of a small file, as `open_regular` opens it; OSError if it is larger."""
    with open_regular(path, below=below, links=links) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, "too large", str(path))
    return data


FILE_MODE = 0o600
OWN_FILE = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Flags for writing into a file of ours that exists: no link is followed, and no FIFO waited for."""


def write_whole(
    path: Path | str, data: bytes, *, sync: bool = False, mode: int = FILE_MODE, folder: int | None = None
) -> None:
    """Replace a file's content atomically: a reader finds the old or the new one. A link is replaced, not followed.

    With `folder`, the path is relative to this open folder.
    """
    parent, name = os.path.split(path)
    draft = os.path.join(parent, f".{name}.{os.getpid()}.new")  # noqa: PTH118  may be relative to a descriptor
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with contextlib.suppress(FileNotFoundError):
        os.unlink(draft, dir_fd=folder)
    handle = os.open(draft, flags, mode, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        os.replace(draft, path, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=folder)
        raise


def copy_files(source: Path, target: Path, *, leave: str) -> None:
    """Copy the files and folders below `source` except `leave`, each to the same place below `target`. Links are left
    out, and those in their place are replaced or, where a folder should be, stay."""
    for entry in os.scandir(source):
        there = target / entry.name
        with contextlib.suppress(OSError):
            if entry.is_dir(follow_symlinks=False):
                there.mkdir(mode=0o700, parents=True, exist_ok=True)
                if not there.is_symlink():
                    copy_files(Path(entry.path), there, leave="")
            elif entry.is_file(follow_symlinks=False) and entry.name != leave:
                target.mkdir(mode=0o700, exist_ok=True)
                write_whole(there, read_small(entry.path, LARGEST), mode=entry.stat().st_mode & 0o777)


LARGEST = 256 * 1024 * 1024


class LaterFile:
    """A file that is written when the run is over: its folder is opened now, so that no link that the agent makes
    leads elsewhere. What is no regular file now, as a terminal or a FIFO of the user's, is written as it is."""

    def __init__(self, path: Path) -> None:
        absolute = path.absolute()
        special = absolute.parts[1:2] in (("dev",), ("proc",)) or not _may_be_regular(absolute)
        self._path, self._special = absolute, special
        flags = O_PATH if special else os.O_RDONLY | os.O_DIRECTORY
        self._handle = os.open(absolute if special else absolute.parent, flags | os.O_CLOEXEC)

    def write(self, data: bytes) -> None:
        """Replace the content; OSError if that is impossible."""
        if self._special:
            with open(f"/proc/self/fd/{self._handle}", "wb") as file:
                file.write(data)
        else:
            write_whole(self._path.name, data, mode=0o666, folder=self._handle)


def write_output(path: Path, text: str) -> None:
    """Write a file that a person asked for, in place of whatever has its name. A link there is not followed."""
    LaterFile(path).write(text.encode("utf-8", "replace"))


def _may_be_regular(path: Path) -> bool:
    try:
        mode = path.lstat().st_mode
    except OSError:
        return True
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


O_PATH = getattr(os, "O_PATH", os.O_RDONLY)
