"""Read the files of a run: whatever an agent puts in their place holds nobody up and takes no memory."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

MOST = 16 * 1024 * 1024


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading, without waiting; OSError if it is a pipe, a device or a folder."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return os.fdopen(handle, "rb")


def read_small(path: Path, most: int = MOST) -> bytes:
    """The whole of a small file; OSError if it is longer, or is not a file."""
    with open_regular(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, "too large", str(path))
    return data
