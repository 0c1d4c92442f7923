"""Index: the summaries of ended runs in one file, so that a list need not open each journal.

It has nothing that is not in the journals. An entry counts only while its journal is the same file that it was made
from; an unreadable index or a doubtful entry is rebuilt.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec
from msgspec import Struct

from ..core import msgpack_decoder, read_small, write_whole
from .folder import RunFolder
from .summary import RunSummary

NAME = ".index"
LARGEST = 1 << 28
VERSION = 1

Stamp = tuple[int, int, int]


class _Known(Struct, array_like=True):
    stamp: Stamp
    summary: RunSummary


class _File(Struct, array_like=True):
    version: int
    runs: dict[str, _Known]


_DECODER = msgpack_decoder(_File)


class Index:
    """The index of one store. Several processes may write it; the last one wins, and nothing is lost."""

    def __init__(self, root: Path) -> None:
        self._file = root / NAME
        self._changed = False
        self._runs = self._load()

    def get(self, folder: RunFolder) -> RunSummary | None:
        """The summary of an ended run whose journal has not changed since."""
        known = self._runs.get(folder.run_id)
        if known is None:
            return None
        if read_stamp(folder) == known.stamp:
            return known.summary
        del self._runs[folder.run_id]
        self._changed = True
        return None

    def put(self, folder: RunFolder, stamp: Stamp | None, summary: RunSummary) -> None:
        """Add an ended run; `stamp` was read before its summary was."""
        if stamp is not None and summary.ended is not None and summary.owner_pid is None:
            self._runs[folder.run_id] = _Known(stamp, summary)
            self._changed = True

    def save(self, names: set[str]) -> None:
        """Drop runs that are gone, and write changes; a list works without an index, so errors do not matter."""
        for gone in self._runs.keys() - names:
            del self._runs[gone]
            self._changed = True
        if not self._changed:
            return
        self._changed = False
        with contextlib.suppress(OSError):
            write_whole(self._file, msgspec.msgpack.encode(_File(VERSION, self._runs)))

    def _load(self) -> dict[str, _Known]:
        try:
            read = _DECODER.decode(read_small(self._file, LARGEST))
        except (OSError, msgspec.MsgspecError):
            return {}
        return read.runs if read.version == VERSION else {}


def read_stamp(folder: RunFolder) -> Stamp | None:
    """A value that changes with the journal; None while its write-ahead log has content."""
    journal = f"{folder.path}/journal.db"
    try:
        found = os.stat(journal)  # noqa: PTH116  two plain stats for each run of a list
    except OSError:
        return None
    with contextlib.suppress(OSError):
        if os.stat(f"{journal}-wal").st_size:  # noqa: PTH116
            return None
    return found.st_ino, found.st_size, found.st_mtime_ns
