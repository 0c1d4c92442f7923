"""Extended attributes and access lists of a file, as one comparable value."""

from __future__ import annotations

import errno
import os

import msgspec

from ..core import from_msgpack, list_attributes, set_attribute

_LABELS = ("security.selinux", "security.ima", "security.evm", "security.SMACK64")
"""Set by the system when a file is created; we do not restore them."""

_NONE = {errno.ENOTSUP, errno.EPERM, errno.EACCES, errno.ENODATA, errno.ENOSYS, errno.EINVAL, errno.EBADF}


def read_attributes(fd: int) -> bytes:
    """The attributes of an open file; empty if there are none or the file system has none."""
    try:
        found = list_attributes(fd)
    except OSError as error:
        if error.errno in _NONE:
            return b""
        raise
    pairs = sorted((os.fsencode(name), value) for name, value in found if name not in _LABELS) if found else []
    return msgspec.msgpack.encode(pairs) if pairs else b""


def write_attributes(fd: int, wanted: bytes) -> bool:
    """Set the attributes of an open file to exactly these; False if the system refuses."""
    now = dict(decode_attributes(read_attributes(fd)))
    then = dict(decode_attributes(wanted))
    try:
        for name in now.keys() - then.keys():
            set_attribute(fd, name, None)
        for name, value in then.items():
            if now.get(name) != value:
                set_attribute(fd, name, value)
    except OSError as error:
        if error.errno in _NONE:
            return False
        raise
    return True


def decode_attributes(data: bytes) -> list[tuple[bytes, bytes]]:
    return from_msgpack(data, list[tuple[bytes, bytes]]) if data else []
