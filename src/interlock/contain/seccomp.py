"""The system call filter: no process inside may type into our terminal (TIOCSTI, TIOCLINUX)."""

from __future__ import annotations

import errno
import os
import platform
import struct

from ..core import LINUX, open_memory_file

TIOCSTI, TIOCLINUX = 0x5412, 0x541C

LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER, ARCH, REQUEST = 0, 4, 24
"""Where struct seccomp_data has the system call, its architecture and the low half of its second argument."""

ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM

X32 = 0x40000000
IOCTL = {"x86_64": ((0xC000003E, 16), (0x40000003, 54)), "aarch64": ((0xC00000B7, 29), (0x40000028, 54))}
"""Architectures that a machine runs, each with its number for ioctl."""


def open_filter() -> int | None:
    """A descriptor with the filter as bubblewrap reads it; None on a machine whose numbers we do not know."""
    known = IOCTL.get(platform.machine())
    if known is None or not LINUX:
        return None
    descriptor = open_memory_file("filter", 0)
    os.write(descriptor, program(known))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def program(architectures: tuple[tuple[int, int], ...]) -> bytes:
    """The BPF program: one block for each architecture, any other one is refused."""
    parts = [_op(LOAD, ARCH)]
    for arch, number in architectures:
        block = [
            _op(LOAD, NUMBER),
            # The x32 calls would go by numbers of their own.
            _op(AT_LEAST, X32, 5, 0),
            _op(EQUAL, number, 0, 3),
            _op(LOAD, REQUEST),
            _op(EQUAL, TIOCSTI, 2, 0),
            _op(EQUAL, TIOCLINUX, 1, 0),
            _op(RETURN, ALLOW),
            _op(RETURN, REFUSE),
        ]
        parts += [_op(EQUAL, arch, 0, len(block)), *block]
    parts.append(_op(RETURN, REFUSE))
    return b"".join(parts)


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
