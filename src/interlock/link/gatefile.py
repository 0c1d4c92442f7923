"""The gate as a small file: what a hook client goes by when no owner answers.

One line of JSON: {"v":1,"status":"paused","shut":true,"revision":7}. It is replaced as a whole, never written in place.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from ..control import Desired
from ..core import Applied, InterlockError, Status


class Gate(Struct, frozen=True, kw_only=True):
    """What the file says. `shut` is what counts: nothing may start."""

    status: Status
    shut: bool
    revision: int
    v: int = 1


def write_gate(path: Path, status: Status, revision: int, *, shut: bool | None = None) -> bool:
    """Put the gate into a state at a revision; False, and nothing done, if the file has a newer one.

    A gate that shuts is on the disk when this returns. One that opens need not be: if that is lost, the owner opens it
    again from its log.
    """
    is_shut = status != "running" if shut is None else shut
    before = read_gate(path)
    if before is not None and before.revision > revision:
        return False
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, msgspec.json.encode(Gate(status=status, shut=is_shut, revision=revision)) + b"\n")
        if is_shut:
            os.fsync(handle)
    finally:
        os.close(handle)
    draft.replace(path)
    return True


def read_gate(path: Path) -> Gate | None:
    """What the file says; None if there is none, which means open."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Gate)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise InterlockError(
            f"the gate file cannot be read ({error})", where=str(path), todo="Treat it as shut; remove it to open."
        ) from None


class FileGate:
    """The gate file as an actuator, or as a part of one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._revision = 0

    @property
    def revision(self) -> int:
        gate = read_gate(self._path)
        return max(self._revision, gate.revision if gate is not None else 0)

    def be(self, desired: Desired) -> Applied:
        """Write what is desired, unless the file has a newer revision."""
        written = write_gate(self._path, desired.status, desired.revision, shut=desired.shut)
        if written:
            self._revision = desired.revision
        return Applied(True, "gate file" if written else "a newer revision was there already")
