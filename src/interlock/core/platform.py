"""The differences between Linux and other systems. Linux is complete; macOS has what does not need the Linux kernel.

Modules that only work on Linux (`process`, `contain`) call `needs_linux` at their entry points.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import socket
import struct
import sys
import time
from functools import cache
from typing import TYPE_CHECKING, Protocol

from .errors import InterlockError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

LINUX = sys.platform == "linux"

POLLRDHUP = 0x2000 if sys.platform == "linux" else select.POLLHUP
"""The peer has stopped sending; on other systems, it has closed the connection."""

KEEP_SIZE, PUNCH_HOLE = 1, 2

SO_PEERPIDFD = 77

OPENAT2, RESOLVE_NO_XDEV, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH = 437, 0x01, 0x04, 0x08

WITHOUT_LINUX = "Without it: interlock install (hooks), serve, web, review, scan, checkpoint, rollback, report."


class NeedsLinux(InterlockError):
    """Raised if a feature was requested that only Linux supports."""

    exit_status = 2

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} needs Linux", todo=WITHOUT_LINUX)


def needs_linux(what: str) -> None:
    """Raise NeedsLinux on other systems."""
    if not LINUX:
        raise NeedsLinux(what)


class Poller(Protocol):
    """The part of epoll's interface that we use. Events have the values of `select.POLLIN` etc."""

    def register(self, fd: int | socket.socket, eventmask: int) -> None: ...
    def modify(self, fd: int | socket.socket, eventmask: int) -> None: ...
    def unregister(self, fd: int | socket.socket) -> None: ...
    def poll(self, timeout: float | None = None, maxevents: int = -1) -> list[tuple[int, int]]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Poller: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class _Poll:
    """A Poller on poll(2), for one thread."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self.register, self.modify, self.unregister = self._poll.register, self._poll.modify, self._poll.unregister

    def poll(self, timeout: float | None = None, maxevents: int = -1) -> list[tuple[int, int]]:
        ready = self._poll.poll(None if timeout is None or timeout < 0 else timeout * 1000)
        return ready[:maxevents] if maxevents > 0 else ready

    def close(self) -> None:
        """Does nothing: there is nothing to close."""

    def __enter__(self) -> _Poll:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_poller() -> Poller:
    if sys.platform == "linux":
        return select.epoll()
    else:
        return _Poll()


def register_exclusive(poller: Poller, listener: socket.socket) -> None:
    """Wait for connections; if the kernel supports it, each connection wakes only one of the waiting threads."""
    if sys.platform == "linux":
        poller.register(listener, select.EPOLLIN | select.EPOLLEXCLUSIVE)
    else:
        poller.register(listener, select.POLLIN)


def open_wake_pipe() -> tuple[int, int]:
    """A pipe that wakes a poller; neither end blocks."""
    ends = os.pipe()
    for end in ends:
        os.set_blocking(end, False)
    return ends


def widen_pipe(descriptor: int, size: int) -> None:
    """Enlarge a pipe's buffer if supported; OSError if an unprivileged user has too many large ones."""
    if sys.platform == "linux":
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, size)


def peer_credentials(sock: socket.socket) -> tuple[int, int, int]:
    """The pid, uid and gid of the peer of a unix socket, according to the kernel."""
    if sys.platform == "linux":
        raw = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid, uid, gid = struct.unpack("3i", raw)
    else:
        local, peer_cred, peer_pid = 0, 1, 2  # SOL_LOCAL, LOCAL_PEERCRED, LOCAL_PEERPID of macOS
        _, uid, _, gid = struct.unpack_from("=IIh2xI", sock.getsockopt(local, peer_cred, 76))
        (pid,) = struct.unpack("i", sock.getsockopt(local, peer_pid, 4))
    return pid, uid, gid


def open_peer(sock: socket.socket) -> int | None:
    """A pidfd of the process that made this connection; None if the system has none.

    ProcessLookupError if the process has ended. Before Linux 6.5, it is the process that has this pid now.
    """
    if sys.platform == "linux":
        try:
            return sock.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD)
        except OSError as error:
            if error.errno in (errno.ESRCH, errno.EINVAL):
                raise ProcessLookupError from None
            if error.errno != errno.ENOPROTOOPT:
                raise
        pid = peer_credentials(sock)[0]
        # A process in a parent pid namespace has no pid here.
        return os.pidfd_open(pid) if pid > 0 else None
    else:
        return None


def boot_clock() -> float:
    """Seconds since boot, including suspended time; this clock never jumps."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    else:
        return time.clock_gettime(time.CLOCK_MONOTONIC)


@cache
def boot_id() -> str:
    """The id of the current boot; empty if the system does not provide it."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""


def sync_data(descriptor: int) -> None:
    """Return when an open file's content is on disk."""
    if sys.platform == "linux":
        os.fdatasync(descriptor)
    elif sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fsync(descriptor)


def allocate(descriptor: int, size: int) -> None:
    """Reserve disk space for an empty file; OSError if there is not enough."""
    if sys.platform == "linux":
        os.posix_fallocate(descriptor, 0, size)
    else:
        piece = bytes(1 << 20)
        for at in range(0, size, len(piece)):
            os.pwrite(descriptor, piece[: size - at], at)


def punch_hole(descriptor: int, start: int, length: int) -> None:
    """Free the disk space of a range of an open file, if the file system supports it."""
    if sys.platform == "linux":
        import ctypes

        libc = ctypes.CDLL(None)
        punch = getattr(libc, "fallocate64", None) or libc.fallocate
        punch.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
        punch(descriptor, PUNCH_HOLE | KEEP_SIZE, start, length)


def copy_range(source: int, out: int, length: int, at: int) -> int:
    """Copy inside the kernel, at the same offset in both files; OSError with ENOSYS if unsupported."""
    if sys.platform == "linux":
        return os.copy_file_range(source, out, length, at, at)
    else:
        raise unsupported()


def thread_seconds(ident: int) -> float:
    """CPU time of one of our threads; 0 if the system does not provide it."""
    if sys.platform == "linux":
        return time.clock_gettime(time.pthread_getcpuclockid(ident))
    else:
        return 0.0


def usable_cores() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    else:
        return os.cpu_count() or 1


def list_attributes(descriptor: int) -> list[tuple[str, bytes]]:
    """The extended attributes of an open file; Python can read them only on Linux."""
    if sys.platform == "linux":
        return [(name, os.getxattr(descriptor, name)) for name in os.listxattr(descriptor)]
    else:
        return []


def set_attribute(descriptor: int, name: bytes, value: bytes | None) -> None:
    """Write or remove an extended attribute of an open file; OSError with ENOSYS if unsupported."""
    if sys.platform == "linux":
        if value is None:
            os.removexattr(descriptor, name)
        else:
            os.setxattr(descriptor, name, value)
    else:
        raise unsupported()


def open_process(pid: int) -> int:
    """A pidfd of this process; OSError if there is none."""
    if sys.platform == "linux":
        return os.pidfd_open(pid)
    else:
        raise unsupported()


def signal_process(handle: int, number: int) -> None:
    """Send a signal to the process of a pidfd."""
    if sys.platform == "linux":
        signal.pidfd_send_signal(handle, number)
    else:
        raise unsupported()


def wait_for_signal(wanted: set[signal.Signals]) -> tuple[int, int]:
    """Wait for one of these blocked signals; returns it and its si_code, 0 if the system does not provide that."""
    if sys.platform == "linux":
        info = signal.sigwaitinfo(wanted)
        return info.si_signo, info.si_code
    else:
        return signal.sigwait(wanted), 0


def reports_stop(pid: int) -> bool:
    """Whether this child has a stop that was not yet reported; ChildProcessError if it is not our child."""
    if sys.platform == "linux":
        return os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG) is not None
    else:
        return os.waitpid(pid, os.WUNTRACED | os.WNOHANG)[0] == pid


def open_memory_file(name: str, flags: int = 1) -> int:
    """An anonymous file in memory; `flags` are those of memfd_create, by default MFD_CLOEXEC."""
    if sys.platform == "linux":
        return os.memfd_create(name, flags)
    else:
        raise unsupported()


M_ARENA_MAX = -8


def share_heap() -> None:
    """Make threads that start from now on share one heap: separate heaps would take a tenth of our memory each."""
    with contextlib.suppress(ImportError, OSError):
        # Same as with ctypes, but without its types, which take long to import.
        from _ctypes import call_function, dlopen, dlsym

        call_function(dlsym(dlopen(None, 0), "mallopt"), (M_ARENA_MAX, 1))  # type: ignore[arg-type]


def open_notifications() -> int:
    """An inotify instance; OSError if there is none."""
    if sys.platform == "linux":
        import ctypes

        queue: int = ctypes.CDLL(None, use_errno=True).inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if queue < 0:
            raise OSError(ctypes.get_errno(), "the kernel provides no notification queue")
        return queue
    else:
        raise unsupported()


def open_below(folder: int, path: str, flags: int, *, mounts: bool = True) -> int:
    """Open a path below an open folder in one call, without following symbolic links, nor crossing mounts unless
    `mounts` is set; OSError with ENOSYS if the kernel does not support it."""
    if sys.platform == "linux":
        how = _how_to_open(flags, mounts)
        found: int = _system_call()(OPENAT2, folder, os.fsencode(path), how, len(how))
        if found < 0:
            import ctypes

            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), path)
        return found
    else:
        raise unsupported()


@cache
def _how_to_open(flags: int, mounts: bool) -> bytes:
    """struct open_how: flags, mode, resolve."""
    return struct.pack("QQQ", flags, 0, RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | (0 if mounts else RESOLVE_NO_XDEV))


@cache
def _system_call() -> Callable[[int, int, bytes, bytes, int], int]:
    import ctypes

    call = ctypes.CDLL(None, use_errno=True).syscall
    call.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t)
    call.restype = ctypes.c_long
    return call


def unsupported() -> OSError:
    return OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
