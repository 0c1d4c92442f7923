"""The gate as a small file, which a hook client obeys when no owner answers.

One line of JSON, padded to 128 bytes with spaces, so that every change is a single write of one sector:
{"v":1,"status":"paused","shut":true,"revision":7,"check":1234567}
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
from msgspec import Struct

from ..control import Desired
from ..core import OWN_FILE, Applied, InterlockError, Status, from_json, read_small, sync_data

SIZE = 128
SOON_S = 0.02
TRIES = 5
"""Attempts to read the file: a reader may see a partial write."""

_encode = msgspec.json.Encoder().encode


class GateState(Struct, frozen=True, kw_only=True):
    """The content of the file. While `shut`, nothing may start."""

    status: Status
    shut: bool
    revision: int
    check: int = 0
    v: int = 1


def read_gate(path: Path) -> GateState | None:
    """Read the file; None if there is none, which means open."""
    for attempt in range(TRIES):
        try:
            data = read_small(path, SIZE, links=True)
        except FileNotFoundError:
            return None
        except OSError:
            data = b""
        try:
            gate = from_json(data, GateState)
        except msgspec.DecodeError:
            gate = None
        if gate is not None and gate.check == _check(gate.status, gate.shut, gate.revision):
            return gate
        time.sleep(0.001 * attempt)
    raise InterlockError(
        "the gate file cannot be read", where=str(path), todo="It counts as shut; remove it to open the gate."
    )


class FileGate:
    """The gate file as an actuator, or part of one. Only the owner of the run writes it.

    It outlives the owner as soon as it is written, and is on the disk a moment later. What must survive a power cut is
    in the journal: an owner that starts writes the file again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        gate = read_gate(path)
        self.revision = gate.revision if gate is not None else 0
        self._line: bytes | None = None
        self._odd = False
        self._lock = threading.Lock()
        self._worker = ThreadPoolExecutor(1, "gate file")
        self._unsynced = self._syncing = False
        self._handle: int | None = None

    def set_desired(self, desired: Desired) -> Applied:
        """Write what is desired, unless the file has a newer revision."""
        if desired.revision < self.revision:
            return Applied(True, "a newer revision already exists")
        try:
            with self._lock:
                self._line = _line(desired.status, desired.revision, desired.shut)
                os.pwrite(self._open(), self._line, 0)
        except FileNotFoundError:
            # Someone removed the run's folder: there is no file to outlive us, and the agent obeys anyway.
            self.revision = desired.revision
            return Applied(True, "no gate file: the run's folder is gone")
        self.revision = desired.revision
        self._unsynced = desired.shut
        return Applied(True)

    def mend(self) -> bool:
        """Rewrite the file if it was changed, as seen twice in a row; returns whether it was.

        Once is not enough: the whole folder may be about to be removed.
        """
        with self._lock:
            was_odd, self._odd = self._odd, self._is_odd()
            if self._line is None or not (was_odd and self._odd):
                return False
            with contextlib.suppress(OSError):
                # As a new file: never write through whatever replaced it.
                self._path.unlink(missing_ok=True)
                os.pwrite(self._open(), self._line, 0)
            return True

    def _is_odd(self) -> bool:
        if self._line is None:
            return False
        try:
            return read_small(self._path, SIZE) != self._line
        except OSError:
            return self._path.parent.exists()

    def rest(self) -> None:
        """Sync the file after the RESULT was sent, without making the caller wait."""
        if self._unsynced and not self._syncing:
            self._unsynced, self._syncing = False, True
            # A program that is ending can start no more threads; the journal has the state in any case.
            with contextlib.suppress(RuntimeError):
                self._worker.submit(self._sync_soon)

    def _sync_soon(self) -> None:
        """Sync after a moment, so that a following command gets the disk first."""
        time.sleep(SOON_S)
        self._syncing = False
        # Sync the file that was written: opening the path in a folder that is being removed would create a new one.
        if self._handle is not None:
            sync_data(self._handle)

    def _open(self) -> int:
        """The file, kept open while it is the one at the path."""
        if self._handle is None or not os.fstat(self._handle).st_nlink:
            self._handle = _open(self._path)
            weakref.finalize(self, os.close, self._handle)
        return self._handle


def _open(path: Path) -> int:
    if not path.is_file() or path.is_symlink():
        # Never write to, or wait for, whatever replaced it.
        path.unlink(missing_ok=True)
    return os.open(path, OWN_FILE, 0o600)


def _line(status: Status, revision: int, is_shut: bool) -> bytes:
    gate = GateState(status=status, shut=is_shut, revision=revision, check=_check(status, is_shut, revision))
    return _encode(gate).ljust(SIZE - 1) + b"\n"


def _check(status: str, shut: bool, revision: int) -> int:
    return zlib.crc32(f"{status} {shut} {revision}".encode())
