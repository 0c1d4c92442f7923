"""Packs: small contents, grouped into compressed frames that are appended to a few files."""

from __future__ import annotations

import errno
import os
import threading
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

import zstandard

from .folder_descent import opened
from .store import CheckpointStore, PackFrame

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

FRAME_BYTES = 128 * 1024
"""Raw bytes per frame: neighbours compress well together, and reading one file stays cheap."""

PACK_BYTES = 32 * 1024 * 1024
"""A pack is closed at this size; collecting garbage needs at most this much extra space."""

RESERVE = 16 * 1024 * 1024
"""Bytes of a disk (or a fiftieth of a small one) that the store leaves free."""

CHECK_EVERY = 2 * 1024 * 1024
"""Bytes between two checks of the disk's free space."""

WAITING = 8
"""Frames that may wait for the disk before the reader waits for them."""

OFFERED = 256
"""Contents that are collected before the store is queried for all of them."""

LEVEL = 1
RAW, ZSTD = 0, 1

_local = threading.local()


Blobs = list[tuple[bytes, int, int]]
"""Digest, start and size of what is in a frame."""


class PackWriter:
    """Compresses and appends contents in a thread of its own; nothing counts until `record`."""

    def __init__(self, store: CheckpointStore, *, new_pack: bool = False, fill_disk: bool = False) -> None:
        self._store, self._to_the_brim = store, fill_disk
        self._executor: ThreadPoolExecutor | None = None
        self._working: deque[Future[None]] = deque()
        self._parts: list[bytes] = []
        self._raw = 0
        self._blobs: Blobs = []
        self._known: set[bytes] | None = None
        self._mine: set[bytes] = set()
        self._offered: list[tuple[bytes, bytes]] = []
        self._offered_bytes = 0
        self._frames: list[PackFrame] = []
        self._rows: list[tuple[bytes, int, int, int]] = []
        self._next_frame = store.number("SELECT max(id) FROM frame") + 1
        newest, length = store.row("SELECT id, length FROM pack ORDER BY id DESC LIMIT 1") or (0, 0)
        fits = newest and length < PACK_BYTES and not new_pack
        self._pack: int = newest if fits else newest + 1
        self._length: int = length if fits else 0
        self._fd = -1
        self._unchecked = 0
        self._lengths: dict[int, int] = {}
        self._touched: list[Path] = []

    def expect(self, many: int) -> None:
        """Prepare for many lookups: above a thousand, all known digests are loaded at once."""
        if many > 1000:
            self._known = {row[0] for row in self._store.rows("SELECT digest FROM blob")}

    def has(self, digest: bytes) -> bool:
        if digest in self._mine:
            return True
        return self._store.has(digest) if self._known is None else digest in self._known

    def offer(self, digest: bytes, content: bytes) -> None:
        """Store a small content unless it is known; lookups are batched."""
        if digest in self._mine or (self._known is not None and digest in self._known):
            return
        if self._known is not None:
            self.add(digest, content)
            return
        self._mine.add(digest)
        self._offered.append((digest, content))
        self._offered_bytes += len(content)
        if self._offered_bytes >= FRAME_BYTES or len(self._offered) >= OFFERED:
            self._store_offered()

    def add(self, digest: bytes, content: bytes) -> None:
        """Store a small content that `has` did not know."""
        self._mine.add(digest)
        self._blobs.append((digest, self._raw, len(content)))
        self._parts.append(content)
        self._raw += len(content)
        if self._raw >= FRAME_BYTES:
            if self._executor is None:
                # One thread: it keeps the order, and the caller is busy reading meanwhile.
                from concurrent.futures import ThreadPoolExecutor

                self._executor = ThreadPoolExecutor(max_workers=1)
            self._working.append(self._executor.submit(self._pack_frame, *self._close_frame()))
            while len(self._working) > WAITING:
                self._working.popleft().result()

    def copy(self, frame: PackFrame) -> None:
        """Store the live contents of an existing frame again."""
        content = read_frame(self._store, frame)
        for digest, start, size in self._store.blobs(frame.id):
            self.add(digest, content[start : start + size])

    def add_object(self, digest: bytes, length: int, raw: int, codec: int) -> None:
        """Add a content that already is in a file of its own."""
        self._mine.add(digest)
        self._touched += [self._store.object_path(digest), self._store.objects]
        frame = PackFrame(self._new_frame_number(), 0, 0, length, raw, codec)
        self._frames.append(frame)
        self._rows.append((digest, frame.id, 0, raw))

    def finish(self) -> None:
        """Write out everything that was added."""
        self._store_offered()
        while self._working:
            self._working.popleft().result()
        if self._parts:
            self._pack_frame(*self._close_frame())

    def flush_later(self) -> None:
        """Have everything synced soon."""
        if self._touched:
            self._store.flush.later([*self._touched, self._store.log], self._next_frame - 1)

    def sync(self) -> None:
        """Sync everything now."""
        self.flush_later()
        self._store.flush.wait()

    def record(self) -> None:
        """Put what was written into the database; call it inside a transaction, after `finish`."""
        db = self._store.db
        db.executemany(
            "INSERT INTO frame VALUES(?,?,?,?,?,?)",
            [(f.id, f.pack, f.start, f.length, f.raw, f.codec) for f in self._frames],
        )
        db.executemany("INSERT OR REPLACE INTO blob VALUES(?,?,?,?)", sorted(self._rows))
        db.executemany("INSERT OR REPLACE INTO pack VALUES(?,?)", list(self._lengths.items()))

    def close(self) -> None:
        """Close; the next writer truncates what was not recorded."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _store_offered(self) -> None:
        offered, self._offered, self._offered_bytes = self._offered, [], 0
        if offered:
            marks = ",".join("?" * len(offered))
            rows = self._store.rows(
                f"SELECT digest FROM blob WHERE digest IN ({marks})", *(name for name, _ in offered)
            )
            known = {row[0] for row in rows}
            for digest, content in offered:
                if digest not in known:
                    self.add(digest, content)

    def _new_frame_number(self) -> int:
        self._next_frame += 1
        return self._next_frame - 1

    def _close_frame(self) -> tuple[int, list[bytes], Blobs]:
        closed = self._new_frame_number(), self._parts, self._blobs
        self._parts, self._blobs, self._raw = [], [], 0
        return closed

    def _pack_frame(self, number: int, parts: list[bytes], blobs: Blobs) -> None:
        """Compress and append one frame."""
        content = b"".join(parts)
        data, codec = _compress(content)
        if self._fd >= 0 and self._length >= PACK_BYTES:
            os.close(self._fd)
            self._fd = -1
            self._store.flush.later([self._store.pack_path(self._pack)], 0)
            self._pack, self._length = self._pack + 1, 0
        if self._fd < 0:
            self._open_pack()
        if self._unchecked <= 0 and not self._to_the_brim:
            refuse_to_fill(self._fd, len(data))
            self._unchecked = CHECK_EVERY
        self._unchecked -= len(data)
        write_all(self._fd, data)
        self._frames.append(PackFrame(number, self._pack, self._length, len(data), len(content), codec))
        self._rows.extend((digest, number, start, size) for digest, start, size in blobs)
        self._length += len(data)
        self._lengths[self._pack] = self._length

    def _open_pack(self) -> None:
        """Open the pack, truncated to what the database knows of it."""
        path = self._store.pack_path(self._pack)
        self._touched += [path] if self._length else [path, self._store.packs]
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if os.lseek(self._fd, 0, os.SEEK_END) != self._length:
            os.ftruncate(self._fd, self._length)
            os.lseek(self._fd, self._length, os.SEEK_SET)


def read_frame(store: CheckpointStore, frame: PackFrame) -> bytes:
    """The raw content of a pack's frame; OSError, EOFError or zstandard.ZstdError where it is damaged."""
    with opened(store.pack_path(frame.pack), os.O_RDONLY | os.O_CLOEXEC) as fd:
        data = os.pread(fd, frame.length, frame.start)
    if len(data) != frame.length:
        raise EOFError("the pack is shorter than it should be")
    if frame.codec == RAW:
        return data
    return zstandard.ZstdDecompressor().decompress(data, max_output_size=frame.raw)


def refuse_to_fill(fd: int, size: int) -> None:
    """Raise ENOSPC before the disk is completely full: the agent works there too."""
    disk = os.fstatvfs(fd)
    if disk.f_bavail * disk.f_frsize < size + min(RESERVE, disk.f_blocks * disk.f_frsize // 50):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def write_all(fd: int, data: bytes | memoryview) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]


def _compress(content: bytes) -> tuple[bytes, int]:
    packer = getattr(_local, "packer", None)
    if packer is None:
        packer = _local.packer = zstandard.ZstdCompressor(level=LEVEL)
    packed = packer.compress(content)
    return (packed, ZSTD) if len(packed) < len(content) else (content, RAW)
