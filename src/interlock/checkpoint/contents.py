"""Contents: read stored content back, always checked against its name."""

from __future__ import annotations

import os

import zstandard

from ..core import InvalidState, sha256
from .content_intake import EMPTY
from .entry import TreeEntry
from .large_files import digest_of, unpack
from .packs import read_frame, write_all
from .store import CheckpointStore, ContentLocation, PackFrame

CACHED = 8
"""Frames kept unpacked: files that were saved together are read together."""


class Contents:
    """Reads contents by digest, keeping the last few frames in memory."""

    def __init__(self, store: CheckpointStore) -> None:
        self._store = store
        self._frames: dict[int, bytes] = {}

    def read(self, digest: bytes) -> bytes:
        """A whole small content, checked."""
        if digest == EMPTY:
            return b""
        place = self._find(digest)
        try:
            content = self._frame(place.frame)[place.start : place.start + place.size]
        except (OSError, EOFError, zstandard.ZstdError) as error:
            raise damaged(self._store, digest, str(error)) from error
        if sha256(content).digest() != digest:
            raise damaged(self._store, digest, "its checksum is wrong")
        return content

    def write(self, entry: TreeEntry, out: int) -> None:
        """Write a file's content into an open, empty file and check what was written."""
        if entry.data == EMPTY:
            return
        place = self._find(entry.data)
        if place.frame.pack:
            write_all(out, self.read(entry.data))
            return
        try:
            unpack(self._store, entry.data, place, out)
        except (EOFError, FileNotFoundError, zstandard.ZstdError) as error:
            raise damaged(self._store, entry.data, str(error)) from error
        if digest_of(out, os.fstat(out).st_size, sparse=entry.is_sparse) != entry.data:
            raise damaged(self._store, entry.data, "its checksum is wrong")

    def _find(self, digest: bytes) -> ContentLocation:
        place = self._store.find(digest)
        if place is None:
            raise damaged(self._store, digest, "it is missing")
        return place

    def _frame(self, frame: PackFrame) -> bytes:
        content = self._frames.get(frame.id)
        if content is None:
            content = read_frame(self._store, frame)
            while len(self._frames) >= CACHED:
                del self._frames[next(iter(self._frames))]
            self._frames[frame.id] = content
        return content


def damaged(store: CheckpointStore, digest: bytes, why: str) -> InvalidState:
    return InvalidState(
        f"stored content {digest.hex()[:16]} cannot be read: {why}; nothing was changed",
        where=str(store.path),
        todo="See what is affected with: interlock checkpoint verify",
    )
