"""ChangeWatcher: where something may have changed, as reported by the kernel. Hints, not facts.

The kernel queues a notification before the call that caused it returns, and delivers them in order. So a change to a
file of our own (the sentinel), read back from the same queue, proves that everything before it was read. Where it does
not come, or the queue overflowed, or mounts of the workspace changed, everything has to be walked.

Not reported: writes through a memory map until the file is closed, and through a hard link outside the workspace.
"""

from __future__ import annotations

import ctypes
import os
import select
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from struct import Struct as Format

from msgspec import Struct, field

from ..core import open_notifications
from .locations import mounts_inside
from .tree import join

MODIFY, ATTRIB, CLOSE_WRITE = 0x2, 0x4, 0x8
MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x40, 0x80, 0x100, 0x200
DELETE_SELF, MOVE_SELF = 0x400, 0x800
UNMOUNT, OVERFLOW, IGNORED = 0x2000, 0x4000, 0x8000
ONLYDIR, ISDIR = 0x01000000, 0x40000000

FOLDER = MODIFY | ATTRIB | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE | DELETE_SELF | MOVE_SELF | ONLYDIR
EVENT = Format("iIII")
BUFFER = 1 << 16
"""Bytes read at once; a larger buffer is mapped from the kernel and unmapped again each time."""

MOST_READS = 1000
"""More reads than the longest queue needs."""

SHARE = 4
"""We use at most this fraction (one in four) of the user's watches; other programs need some too."""

FITTING = frozenset(("ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs", "overlay", "f2fs", "zfs", "bcachefs", "ramfs"))
"""File systems on which every change passes through this kernel. Others may change unnoticed."""

CHANGES = 20
"""Changes in a row that show how precise timestamps are."""

TICK_S = 0.001
"""The shortest tick of a kernel. If each change takes that long, as on a synchronous disk, each gets a timestamp of its
own by chance."""

LIMIT = Path("/proc/sys/fs/inotify/max_user_watches")
MOUNTS = "/proc/self/mountinfo"

_libc = ctypes.CDLL(None, use_errno=True)


RESTRUCTURES = MOVED_FROM | MOVED_TO | CREATE | DELETE | ISDIR
"""Events that also move the folder's own times, or concern a folder."""


class Hints(Struct):
    """Names to check by folder; folders to scan recursively; and the folders with names in which more may have happened
    than writes to files."""

    names: dict[str, set[str]] = field(default_factory=dict)
    deep: set[str] = field(default_factory=set)
    restructured: set[str] = field(default_factory=set)


class ChangeWatcher:
    """Watches the folders of one workspace that are added to it."""

    def __init__(self, sentinel: Path, workspace: Path, limit: int | None = None) -> None:
        """Raises OSError if the kernel gives us no queue."""
        self.limit = _share() if limit is None else limit
        self.read: Callable[[int, int], bytes] = os.read
        self.unwatched: set[str] = set()
        """Folders beyond the limit: these are scanned every time."""
        self.fine_times = False
        """Whether a change after a stat always moves the file's times."""
        self._sentinel, self._workspace = sentinel, workspace
        self._sentinel_pending = False
        """Whether the sentinel was changed and not read back."""
        self._folders: dict[int, str] = {}
        self._watches: dict[str, int] = {}
        self._mount_events = select.poll()
        self._fd = self._mounts = -1
        self._fd = open_notifications()
        try:
            sentinel.touch(mode=0o600)
            self.fine_times = _times_are_fine(sentinel, workspace)
            self._marker = self._add(os.fsencode(sentinel), ATTRIB)
            self._mounts = os.open(MOUNTS, os.O_RDONLY | os.O_CLOEXEC)
            self._mount_events.register(self._mounts, select.POLLPRI)
            self._mount_state = self._read_mount_state()
        except BaseException:
            self.close()
            raise

    def begin_walk(self) -> None:
        """Every folder is about to be added again."""
        self.unwatched.clear()

    def close(self) -> None:
        if self._mounts >= 0:
            os.close(self._mounts)
        if self._fd >= 0:
            _close_in_background(self._fd)
        self._fd = self._mounts = -1

    def add(self, folder: str, fd: int, *, anew: bool) -> None:
        """Watch a folder, before it is scanned; `anew` if another folder may have replaced it."""
        if not anew and folder in self._watches:
            return
        if len(self._watches) >= self.limit and folder not in self._watches:
            self.unwatched.add(folder)
            return
        try:
            # By the open folder, not by its path, so that no link can lead elsewhere.
            number = self._add(b"/proc/self/fd/%d" % fd, FOLDER)
        except OSError:
            self.unwatched.add(folder)
            return
        self.unwatched.discard(folder)
        known = self._folders.get(number)
        if known is not None and known != folder and self._watches.get(known) == number:
            del self._watches[known]
        self._folders[number] = folder
        self._watches[folder] = number

    def drain(self) -> Hints | None:
        """What may have changed since the last call; None if unknown: walk everything."""
        hints, whole = Hints(), True
        try:
            if self._mount_changed():
                return None
            if self._sentinel_pending:
                # A sentinel that was not read back may still arrive, and would prove nothing about later events.
                with suppress(BlockingIOError):
                    for _ in range(MOST_READS):
                        whole = self._read(hints)[0] and whole
                    return None
            self._sentinel_pending, arrived = True, False
            os.utime(self._sentinel)
            while not arrived:
                complete, arrived = self._read(hints)
                whole = whole and complete
            self._sentinel_pending = False
        except OSError:
            return None
        return hints if whole else None

    def _read(self, hints: Hints) -> tuple[bool, bool]:
        """Add one read's events to the hints; returns whether none were lost, and whether the sentinel was read."""
        whole, arrived = True, False
        folders, names = self._folders, hints.names
        unpack, size = EVENT.unpack_from, EVENT.size
        last, raw, name = -1, b"", ""
        data = self.read(self._fd, BUFFER)
        at = 0
        while at < len(data):
            number, mask, _, length = unpack(data, at)
            at += size + length
            if number == self._marker:
                arrived = True
                continue
            if mask & (OVERFLOW | UNMOUNT):
                whole = False
                continue
            folder = folders.get(number)
            if folder is None:
                continue
            if mask & IGNORED:
                self._drop(number, folder)
            elif length:
                # One write causes several notifications.
                if number != last or data[at - length : at] != raw:
                    last, raw = number, data[at - length : at]
                    name = os.fsdecode(raw.rstrip(b"\0"))
                    names.setdefault(folder, set()).add(name)
                if mask & RESTRUCTURES:
                    hints.restructured.add(folder)
                    if mask & ISDIR and mask & (CREATE | MOVED_TO):
                        hints.deep.add(join(folder, name))
            elif not folder and mask & (MOVE_SELF | DELETE_SELF):
                whole = False
        return whole, arrived

    def _drop(self, number: int, folder: str) -> None:
        del self._folders[number]
        if self._watches.get(folder) == number:
            del self._watches[folder]

    def _add(self, path: bytes, mask: int) -> int:
        number = int(_libc.inotify_add_watch(self._fd, path, mask))
        if number < 0:
            raise OSError(ctypes.get_errno(), "cannot be watched")
        return number

    def _mount_changed(self) -> bool:
        """Whether the workspace was replaced, or mounts inside it changed; other mounts do not count."""
        if not any(event & select.POLLPRI for _, event in self._mount_events.poll(0)):
            return False
        before, self._mount_state = self._mount_state, self._read_mount_state()
        return before != self._mount_state

    def _read_mount_state(self) -> tuple[int, int, frozenset[str]]:
        found = self._workspace.stat()
        return found.st_dev, found.st_ino, mounts_inside(str(self._workspace))


_last: threading.Thread | None = None


def _close_in_background(fd: int) -> None:
    """Close it in a thread: the kernel takes up to 20 ms to free a queue. One at a time, as there are few."""
    global _last
    if _last is not None:
        _last.join()
    try:
        _last = threading.Thread(target=os.close, args=(fd,), name="interlock-watch", daemon=True)
        _last.start()
    except RuntimeError:
        # The program is ending and can start no more threads.
        _last = None
        os.close(fd)


def _times_are_fine(sentinel: Path, workspace: Path) -> bool:
    """Whether two changes with a stat between them always get different times here, however quickly they follow:
    recent kernels guarantee that, on older ones it depends on the clock tick."""
    with open(sentinel, "r+b", buffering=0) as file:
        fd = file.fileno()
        if os.fstat(fd).st_dev != workspace.stat().st_dev:
            return False
        seen, began = set(), time.monotonic()
        for _ in range(CHANGES):
            os.pwrite(fd, b"1", 0)
            seen.add(os.fstat(fd).st_ctime_ns)
        ticks = (time.monotonic() - began) / TICK_S
    return len(seen) == CHANGES and ticks < CHANGES - 1


def _share() -> int:
    try:
        return int(LIMIT.read_text()) // SHARE
    except (OSError, ValueError):
        return 8192 // SHARE
