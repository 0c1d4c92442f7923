"""The system call filter: no typing into our terminal (TIOCSTI, TIOCLINUX), and no way around the walls of a fence."""

from __future__ import annotations

import errno
import os
import platform
import struct
from typing import NamedTuple

from ..core import LINUX, open_memory_file

TIOCSTI, TIOCLINUX = 0x5412, 0x541C
FAMILIES = (1, 2, 10, 16)
"""Sockets that a network namespace holds, or a mount: UNIX, INET, INET6, NETLINK. VSOCK, for one, it does not."""

LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER, ARCH, FAMILY, REQUEST = 0, 4, 16, 24
"""Where struct seccomp_data has the system call, its architecture, and the low halves of its first two arguments."""

ALLOW = 0x7FFF0000
REFUSE, ABSENT, NO_FAMILY = (0x00050000 | number for number in (errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT))

X32 = 0x40000000


class Numbers(NamedTuple):
    """An architecture and its system calls; `absent` are the kernel's keyrings, io_uring and i386's socketcall."""

    arch: int
    ioctl: int
    socket: int
    absent: tuple[int, ...]


MACHINES = {
    "x86_64": (
        Numbers(0xC000003E, 16, 41, (248, 249, 250, 425)),
        Numbers(0x40000003, 54, 359, (286, 287, 288, 425, 102)),
    ),
    "aarch64": (Numbers(0xC00000B7, 29, 198, (217, 218, 219, 425)), Numbers(0x40000028, 54, 281, (309, 310, 311, 425))),
}
"""Architectures that a machine runs."""


def open_filter(*, fenced: bool = False) -> int | None:
    """A descriptor with the filter as bubblewrap reads it; None on a machine whose numbers we do not know."""
    known = MACHINES.get(platform.machine())
    if known is None or not LINUX:
        return None
    descriptor = open_memory_file("filter", 0)
    os.write(descriptor, program(known, fenced=fenced))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def program(architectures: tuple[Numbers, ...], *, fenced: bool) -> bytes:
    """The BPF program: one block for each architecture, any other one is refused."""
    parts = [_op(LOAD, ARCH)]
    for numbers in architectures:
        # The x32 calls would go by numbers of their own.
        block = [_op(LOAD, NUMBER), _op(AT_LEAST, X32, 0, 1), _op(RETURN, REFUSE)]
        if fenced:
            for number in numbers.absent:
                block += [_op(EQUAL, number, 0, 1), _op(RETURN, ABSENT)]
            block += _if(numbers.socket, [_op(LOAD, FAMILY), *_each(FAMILIES, ALLOW), _op(RETURN, NO_FAMILY)])
        block += _if(numbers.ioctl, [_op(LOAD, REQUEST), *_each((TIOCSTI, TIOCLINUX), REFUSE), _op(RETURN, ALLOW)])
        block.append(_op(RETURN, ALLOW))
        parts += [_op(EQUAL, numbers.arch, 0, len(block)), *block]
    parts.append(_op(RETURN, REFUSE))
    return b"".join(parts)


def _if(number: int, then: list[bytes]) -> list[bytes]:
    return [_op(EQUAL, number, 0, len(then)), *then]


def _each(values: tuple[int, ...], answer: int) -> list[bytes]:
    return [op for value in values for op in (_op(EQUAL, value, 0, 1), _op(RETURN, answer))]


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
