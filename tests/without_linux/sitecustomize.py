"""Makes this system look like one that is not Linux: Python loads it where this folder is on PYTHONPATH.

What only Linux has is gone from the standard library, /proc and cgroups do not exist, and a socket answers in the way
of macOS. psutil is loaded before, and may read /proc: it knows other systems by itself.
"""

import ctypes
import errno
import fcntl
import os
import select
import signal
import socket
import struct
import sys
import time
import types

import psutil

ABSENT = {
    os: "pidfd_open pipe2 memfd_create copy_file_range posix_fallocate fdatasync listxattr getxattr setxattr "
    "removexattr sched_getaffinity waitid eventfd splice O_PATH O_TMPFILE setns unshare sched_setaffinity",
    select: "epoll EPOLLIN EPOLLOUT EPOLLHUP EPOLLERR EPOLLEXCLUSIVE POLLRDHUP",
    socket: "SO_PEERCRED SO_PASSCRED SCM_CREDENTIALS SOCK_CLOEXEC SOCK_NONBLOCK",
    signal: "sigwaitinfo sigtimedwait pidfd_send_signal",
    time: "CLOCK_BOOTTIME pthread_getcpuclockid",
    fcntl: "F_SETPIPE_SZ F_GETPIPE_SZ",
}
HIDDEN = ("/proc", "/sys/fs/cgroup")
FUNCTIONS = {"prctl", "inotify_init1", "inotify_add_watch", "syscall", "fallocate", "fallocate64"}


def hides(path: object) -> bool:
    text = os.fsdecode(path) if isinstance(path, (str, bytes)) else ""
    return text.startswith(HIDDEN) and not sys._getframe(2).f_globals.get("__name__", "").startswith("psutil")


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event in ("open", "os.listdir", "os.scandir") and hides(arguments[0]):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), arguments[0])


def without(look):
    def stat(path, *more, **options):
        if hides(path if isinstance(path, (str, bytes)) else getattr(path, "__fspath__", str)()):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        return look(path, *more, **options)

    return stat


def function(library, name, found=ctypes.CDLL.__getattr__):
    if name in FUNCTIONS:
        raise AttributeError(name)
    return found(library, name)


def option(sock, level, name, size=0, found=socket.socket.getsockopt):
    if level == 0 and name in (1, 2):  # LOCAL_PEERCRED, LOCAL_PEERPID
        pid, uid, gid = struct.unpack("3i", found(sock, 1, 17, 12))
        return struct.pack("=IIh2xI", 0, uid, 1, gid).ljust(76, b"\0") if name == 1 else struct.pack("i", pid)
    return found(sock, level, name, size) if size else found(sock, level, name)


def control(descriptor, command, argument=0, call=fcntl.fcntl):
    if command == fcntl.F_FULLFSYNC:
        os.fsync(descriptor)
        return 0
    return call(descriptor, command, argument)


assert psutil.LINUX
# Python's own module for the proxy settings of macOS.
sys.modules["_scproxy"] = types.SimpleNamespace(_get_proxy_settings=dict, _get_proxies=dict)  # type: ignore[assignment]
for module, names in ABSENT.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
fcntl.F_FULLFSYNC = 51
fcntl.fcntl = control
socket.socket.getsockopt = option
ctypes.CDLL.__getattr__ = function
os.stat, os.lstat = without(os.stat), without(os.lstat)
sys.addaudithook(refuse)
sys.platform = "darwin"
