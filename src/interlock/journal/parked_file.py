"""The durable timer of a parked run, and the folder in which parked runs of a store find each other."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from ..core import boot_clock, boot_id, from_json, read_small
from .durable_files import FOLDER_MODE, locked, write_durably
from .folder import PARKED, RunFolder

T = TypeVar("T", bound=Struct)

MARKS = ".parked"
"""The folder alongside the runs with an empty file for each parked one, and a file for each quota."""


def boot_reading() -> tuple[float, float, str]:
    """The wall clock, the seconds since this boot (suspended time included), and which boot it is."""
    return time.time(), boot_clock(), boot_id()


def write_parked(folder: RunFolder, timer: Struct) -> None:
    """Store that a run is parked; it is on the disk when this returns."""
    marks = folder.path.parent / MARKS
    marks.mkdir(mode=FOLDER_MODE, exist_ok=True)
    (marks / folder.run_id).touch()
    write_durably(folder.path / PARKED, msgspec.json.encode(timer))


def read_parked(folder: RunFolder, kind: type[T]) -> T | None:
    """A run's timer; None if it is not parked."""
    try:
        return from_json(read_small(folder.path / PARKED), kind)
    except (OSError, msgspec.DecodeError):
        return None


def clear_parked(folder: RunFolder) -> None:
    """The run is parked no longer."""
    (folder.path / PARKED).unlink(missing_ok=True)
    (folder.path.parent / MARKS / folder.run_id).unlink(missing_ok=True)


def parked_runs(store: Path) -> list[RunFolder]:
    """The parked runs of a store; the cost depends on their number only."""
    try:
        names = sorted(mark.name for mark in (store / MARKS).iterdir())
    except OSError:
        return []
    folders = [RunFolder(store / name) for name in names if not name.startswith("quota-")]
    return [folder for folder in folders if (folder.path / PARKED).exists()]


@contextlib.contextmanager
def quota_file(store: Path, quota: str) -> Iterator[Path]:
    """The file of one quota, locked."""
    marks = store / MARKS
    marks.mkdir(mode=FOLDER_MODE, exist_ok=True)
    path = marks / f"quota-{sha256(quota.encode()).hexdigest()[:16]}"
    with locked(path):
        yield path
