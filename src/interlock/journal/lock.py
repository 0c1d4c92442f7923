"""The lock of a run, which one owner process has; and whether a person has the dashboard open."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from ..core import FILE_MODE, InterlockError, InvalidState, from_json

PATIENCE_S = 0.5
"""How long we try to acquire the lock: a process that looks up the owner holds it for some microseconds."""


class OwnerInfo(Struct, frozen=True):
    """The process that owns a run, for people; only the kernel's lock counts. Pid 0: not known yet."""

    pid: int = 0
    since: float = 0.0
    host: str = ""


class RunLock:
    """A held lock. The kernel releases it when the process ends."""

    def __init__(self, handle: int) -> None:
        self._handle: int | None = handle

    @classmethod
    def acquire(cls, path: Path, what: str, patience_s: float | None = None) -> RunLock:
        """Acquire the lock, or raise InvalidState naming its owner."""
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        except OSError as error:
            raise InterlockError(
                f"{what} cannot be locked ({error.strerror})", where=str(path), todo="Check its permissions."
            ) from None
        deadline = time.monotonic() + (PATIENCE_S if patience_s is None else patience_s)
        while not _try(handle, fcntl.LOCK_EX):
            if time.monotonic() >= deadline:
                owner = _read_owner(handle)
                os.close(handle)
                raise InvalidState(
                    f"{what} is owned by process {owner.pid or 'unknown'} on {owner.host or 'this machine'}",
                    todo="Wait for it, or cancel the run.",
                )
            time.sleep(0.01)
        owner = OwnerInfo(os.getpid(), time.time(), socket.gethostname())
        # This is for people; on a full disk the lock is held anyway.
        with contextlib.suppress(OSError):
            os.ftruncate(handle, 0)
            os.pwrite(handle, msgspec.json.encode(owner) + b"\n", 0)
        return cls(handle)

    def release(self) -> None:
        """Release it; a second call does nothing."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> RunLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def find_owner(path: Path) -> OwnerInfo | None:
    """Who holds the lock right now; None if nobody does, whatever the file says."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return None if _try(handle, fcntl.LOCK_SH) else _read_owner(handle)
    finally:
        os.close(handle)


def hold_front(folder: Path) -> int | None:
    """Become the only front of the run in this folder, for the lifetime of this process; None if it has one."""
    handle = os.open(folder / "lock.front", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    if _try(handle, fcntl.LOCK_EX):
        return handle
    os.close(handle)
    return None


def has_front(folder: Path) -> bool:
    """Whether the run in this folder has a live front."""
    handle = hold_front(folder)
    if handle is not None:
        os.close(handle)
    return handle is None


def _try(handle: int, how: int) -> bool:
    try:
        fcntl.flock(handle, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read_owner(handle: int) -> OwnerInfo:
    try:
        return from_json(os.pread(handle, 4096, 0), OwnerInfo)
    except (OSError, msgspec.DecodeError):
        return OwnerInfo()


FILE = ".viewed"
EVERY_S = 5.0
"""How often an open page reports that it is open."""
FRESH_S = 20.0
"""How long such a report is valid."""


def mark_viewed(store: Path) -> None:
    """Note that someone is viewing the runs of this store now."""
    with contextlib.suppress(OSError):  # a store that cannot be written can still be viewed
        (store / FILE).touch(mode=0o600)


def is_viewed(store: Path) -> bool:
    """Whether someone viewed them just now."""
    try:
        return time.time() - (store / FILE).stat().st_mtime < FRESH_S
    except OSError:
        return False
