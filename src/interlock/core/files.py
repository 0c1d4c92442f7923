"""The locations of a user's files; safe reading of a run's files, which an agent may have replaced; atomic writing."""

from __future__ import annotations

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


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading without blocking; OSError if it is a pipe, a device or a folder."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return os.fdopen(handle, "rb")


def read_small(path: Path, most: int = MOST) -> bytes:
    """The content of a small file; OSError if it is larger, or not a regular file."""
    with open_regular(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, "too large", str(path))
    return data


FILE_MODE = 0o600


def write_whole(path: Path, data: bytes, *, sync: bool = False) -> None:
    """Replace a file's content atomically: a reader finds the old or the new one."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, FILE_MODE)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
