"""Locks: one operation at a time in a store, one run at a time in a workspace."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from ..core import InvalidState, from_json
from .folder_descent import opened

WAIT_S = 30.0
"""How long an operation waits for another one to end."""


class Busy(InvalidState):
    """Raised when another process uses the store for too long."""


class Holder(Struct, frozen=True, omit_defaults=True):
    """Who holds a lock."""

    pid: int
    workspace: str
    run_id: str | None = None
    name: str = ""

    def __str__(self) -> str:
        return f"run {self.name or self.run_id} (process {self.pid})" if self.run_id else f"process {self.pid}"


class WorkspaceLock:
    """A run's lock on a workspace, for as long as it lives; a killed run's lock is free at once."""

    def __init__(self, store: Path, holder: Holder) -> None:
        self._fd = os.open(_file(store), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            other = read_holder(self._fd)
            os.close(self._fd)
            raise in_use(other, holder.workspace) from None
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, msgspec.json.encode(holder), 0)

    def release(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def find_holder(store: Path) -> Holder | None:
    """The run that works in a workspace now, if one does."""
    with suppress(FileNotFoundError), opened(_file(store), os.O_RDWR | os.O_CLOEXEC) as fd:
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return read_holder(fd) or Holder(0, "")
    return None


def find_overlap(stores: Path, workspace: Path, mine: Path) -> Holder | None:
    """A run that works in a folder above or below this one."""
    for item in os.scandir(stores) if stores.is_dir() else ():
        if item.path != str(mine) and (holder := find_holder(Path(item.path))) is not None:
            other = Path(holder.workspace)
            if other in workspace.parents or workspace in other.parents:
                return holder
    return None


def in_use(holder: Holder | None, workspace: str) -> InvalidState:
    who = str(holder) if holder else "another run"
    where = holder.workspace if holder and holder.workspace else workspace
    return InvalidState(
        f"{who} is already working in {where}",
        where=workspace if where != workspace else "",
        todo="Wait for it, cancel it, or use a copy of the workspace",
    )


@contextmanager
def operation(store: Path, what: str, wait_s: float = WAIT_S) -> Iterator[None]:
    """Lock the store for one operation; waits for another one, then reports who is busy."""
    with opened(store / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600) as fd:
        _acquire(fd, store, what, wait_s)
        # The holder is only shown to those who wait; a full disk is no reason to fail.
        # Overwritten, not truncated first: ext4 would then wait for the disk.
        with suppress(OSError):
            os.pwrite(fd, msgspec.json.encode(Holder(os.getpid(), what)).ljust(os.fstat(fd).st_size), 0)
        yield


def _acquire(fd: int, store: Path, what: str, wait_s: float) -> None:
    until = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= until:
                other = read_holder(fd)
                raise Busy(
                    f"cannot {what}: {other or 'another process'} is busy with the checkpoints"
                    + (f" ({other.workspace})" if other else ""),
                    where=str(store),
                    todo="Try again when it is done",
                ) from None
            time.sleep(0.01)


def read_holder(fd: int) -> Holder | None:
    try:
        return from_json(os.pread(fd, 4096, 0), Holder)
    except msgspec.DecodeError:
        return None


def _file(store: Path) -> Path:
    return store / "run.lock"
