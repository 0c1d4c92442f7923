"""Guard and fence as bubblewrap arguments: read-only, emptied and hidden paths, and the system call filter."""

from __future__ import annotations

import errno
import os
import platform
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from ..core import LINUX, open_memory_file, user_folder, write_whole
from .bubblewrap_check import base_words
from .protected_paths import (
    RealPaths,
    bound_sockets,
    cgroup_mounts,
    code_paths,
    hidden_sockets,
    hidden_variables,
    homes,
    is_there,
    own_folders,
    protected_paths,
)
from .write_limits import SECRET_VARIABLES, TEMPORARY, WriteLimits

ROOT_CAPABILITIES = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_SETGID", "CAP_SETUID",
                     "CAP_NET_BIND_SERVICE", "CAP_KILL", "CAP_SYS_CHROOT")  # fmt: skip
"""Capabilities that root keeps: enough for apt, chown and su; not for mounting, tracing or creating devices."""

DEVICES = ("/dev/pts", "/dev/shm", "/dev/dri", "/dev/snd", "/dev/fuse", "/dev/kvm", "/dev/video0")
"""Devices for root besides bubblewrap's defaults: no disks, no memory, no consoles."""

KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi", "/proc/scsi", "/proc/fs")


class GuardedPaths(Struct, frozen=True, kw_only=True):
    """The paths of one run.

    `hidden` folders are empty inside except for `shown` (read-only) and `writable`; `fixed` is read-only. `workspaces`
    stay writable, wherever they are. `secret` files are empty inside, wherever they are.
    """

    hidden: tuple[Path, ...] = ()
    shown: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    fixed: tuple[Path, ...] = ()
    workspaces: tuple[Path, ...] = ()
    secret: tuple[Path, ...] = ()


def guard_words(
    program: str,
    kept: GuardedPaths,
    allow: tuple[str, ...] = (),
    filter_fd: int | None = None,
    limits: WriteLimits | None = None,
) -> tuple[str, ...]:
    """The command prefix: bubblewrap with the arguments for guard, for limits on writing, and for a fence."""
    root, real = os.geteuid() == 0, RealPaths()
    fenced = limits is not None and limits.fenced
    words = list(base_words(program, fenced=fenced, read_only=limits is not None))
    words += _devices(whole=not root and not fenced)
    words += ["--proc", "/proc"]
    if limits is not None:
        words += _open_writes(limits, real)
    if root:
        words += _bind("--ro-bind", map(Path, KERNEL))
        words += ["--cap-drop", "ALL", *(word for name in ROOT_CAPABILITIES for word in ("--cap-add", name))]
    fixed = [*own_folders(), *protected_paths(allow), Path(program), *kept.fixed]
    for path in own_folders():
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    free: tuple[Path, ...] = ()
    if "interlock-code" not in allow:
        code, free = code_paths()
        fixed += code
    fixed = real.resolve((*fixed, *(limits.fixed if limits is not None else ())))
    changeable = [path for path in fixed if os.access(path, os.W_OK)]
    if limits is not None:
        # Only paths in writable folders need this; the rest is read-only or hidden.
        inner = (*limits.write, *map(Path, TEMPORARY))
        changeable = [path for path in changeable if real.is_below(path, inner)]
    folders, files = hidden_sockets(allow)
    emptied = [*kept.hidden, *real.resolve(folders), *([Path("/run/interlock")] if root else [])]
    words += _bind("--bind", _ancestors((*changeable, *emptied, *kept.shown), limits, real))
    words += _bind("--ro-bind", changeable)
    words += _bind("--bind", real.resolve(free) if limits is None else ())
    # Last, as it brings a dozen mounts with it, and bubblewrap reads the list of all mounts for each that follows.
    words += _bind("--ro-bind", (Path("/sys"), *cgroup_mounts()))
    words += _hide(folder for folder in emptied if folder.is_dir())
    words += _hide(file for file in real.resolve(files) if not (fenced and file.is_relative_to("/run")))
    if limits is not None and fenced:
        words += _hide(path for path in real.resolve(bound_sockets()) if _is_seen(path, limits, emptied, real))
    if limits is not None:
        words += _hide(limits.hidden)
        words += [word for path in limits.hidden if path.is_dir() for word in ("--remount-ro", str(path))]
    workspaces = tuple(dict.fromkeys(kept.workspaces))
    covered = [path for path in workspaces if real.is_below(path, (*kept.hidden, *fixed))]
    words += _bind("--bind", covered)
    words += _bind("--ro-bind", (path for path in fixed if real.is_below(path, covered)))
    words += _bind("--bind", kept.writable)
    words += _bind("--ro-bind", (path for path in kept.shown if path.exists()))
    gone = (*kept.hidden, *(limits.hidden if limits is not None else ()))
    secret = real.resolve(kept.secret)
    words += _hide(file for file in secret if not real.is_below(file, gone) or real.is_below(file, workspaces))
    variables = (*hidden_variables(allow), *(SECRET_VARIABLES if fenced else ()))
    words += [word for name in variables for word in ("--unsetenv", name)]
    return (*words, *(("--seccomp", str(filter_fd)) if filter_fd is not None else ()))


def _open_writes(limits: WriteLimits, real: RealPaths) -> list[str]:
    """Writable paths; the rest of the machine is read-only. A fence has a private /run besides."""
    words = ["--tmpfs", "/run"] if limits.fenced and Path("/run").is_dir() else []
    emptied = [Path("/run")] if limits.fenced else []
    if limits.temporary is not None:
        for path in map(Path, TEMPORARY):
            words += ["--bind", str(limits.temporary), str(path)] if path.is_dir() else []
        words += ["--tmpfs", "/dev/shm"]
        emptied += map(Path, TEMPORARY)
        words += [] if limits.fenced else _bind("--ro-bind", (Path("/tmp/.X11-unix"),))
    # Homes and Interlock with its interpreter may be in emptied folders.
    words += _bind("--ro-bind", (path for path in (*homes(), *code_paths()[0]) if real.is_below(path, emptied)))
    return words + _bind("--bind", limits.write)


def _ancestors(paths: Iterable[Path], limits: WriteLimits | None, real: RealPaths) -> list[Path]:
    """The folders above these paths that the agent could rename, with what is protected in them: each gets a mount
    of its own, which cannot be renamed."""
    found = {
        parent
        for path in real.resolve(paths)
        for parent in path.parents
        if len(parent.parts) > 1
        and os.access(parent.parent, os.W_OK)
        and (limits is None or real.is_below(parent.parent, limits.write))
    }
    return sorted(found, key=lambda path: len(path.parts))


def _is_seen(path: Path, limits: WriteLimits, emptied: list[Path], real: RealPaths) -> bool:
    """Whether an outside socket is visible inside a fence: not allowed by name, nor in an emptied folder."""
    if path in limits.write or real.is_below(path, (*emptied, *limits.hidden)):
        return False
    again = (*homes(), *code_paths()[0], *limits.write)
    return not real.is_below(path, map(Path, ("/run", *TEMPORARY))) or real.is_below(path, again)


def _devices(*, whole: bool) -> list[str]:
    if whole:
        return ["--dev-bind", "/dev", "/dev"]
    return ["--dev", "/dev", *(word for name in DEVICES for word in ("--dev-bind-try", name, name))]


def _hide(paths: Iterable[Path]) -> list[str]:
    """Hide paths: folders and files become empty. A device of ours cannot stand in: bubblewrap's mounts have none."""
    words: list[str] = []
    empty = user_folder("cache") / "empty"
    if not is_there(empty):
        empty.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(empty, b"")
    for path in paths:
        words += ("--perms", "0700", "--tmpfs") if path.is_dir() else ("--ro-bind", str(empty))
        words.append(str(path))
    return words


def _bind(how: str, paths: Iterable[Path]) -> list[str]:
    return [word for path in paths if is_there(path) for word in (how, str(path), str(path))]


TIOCSTI, TIOCLINUX = 0x5412, 0x541C
FAMILIES = (1, 2, 10, 16)
"""Socket families that namespaces and mounts contain: UNIX, INET, INET6, NETLINK; but not VSOCK, for example."""

LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER, ARCH, FAMILY, REQUEST = 0, 4, 16, 24
"""Offsets in struct seccomp_data: system call, architecture, and the low halves of the first two arguments."""

ALLOW = 0x7FFF0000
REFUSE, ABSENT, NO_FAMILY = (0x00050000 | number for number in (errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT))

X32 = 0x40000000


class SystemCalls(NamedTuple):
    """An architecture and its system calls; `absent` are the kernel's keyrings, io_uring and i386's socketcall."""

    arch: int
    ioctl: int
    socket: int
    absent: tuple[int, ...]


MACHINES = {
    "x86_64": (
        SystemCalls(0xC000003E, 16, 41, (248, 249, 250, 425)),
        SystemCalls(0x40000003, 54, 359, (286, 287, 288, 425, 102)),
    ),
    "aarch64": (
        SystemCalls(0xC00000B7, 29, 198, (217, 218, 219, 425)),
        SystemCalls(0x40000028, 54, 281, (309, 310, 311, 425)),
    ),
}
"""The architectures that each machine runs."""


def open_filter(*, fenced: bool = False) -> int | None:
    """A descriptor with the filter for bubblewrap; None on a machine whose system calls we do not know."""
    known = MACHINES.get(platform.machine())
    if known is None or not LINUX:
        return None
    descriptor = open_memory_file("filter", 0)
    os.write(descriptor, program(known, fenced=fenced))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def program(architectures: tuple[SystemCalls, ...], *, fenced: bool) -> bytes:
    """The BPF program: one block per architecture; others are refused."""
    parts = [_op(LOAD, ARCH)]
    for numbers in architectures:
        # x32 calls have other numbers.
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
