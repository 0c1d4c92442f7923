"""Large files: each is a file of its own in the store, cloned if the file system can, with holes kept."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress

import zstandard
from msgspec import Struct

from ..core import copy_range
from .entry import SPARSE
from .folder_descent import opened
from .packs import LEVEL, RAW, ZSTD, refuse_to_fill, write_all
from .store import CheckpointStore, ContentLocation

LARGE = 4 * 1024 * 1024
"""Files of at least this size are stored whole, alongside the packs."""

CHUNK = 1024 * 1024
BLOCK = 64 * 1024

_FICLONE = 0x40049409
_ZEROS = bytes(BLOCK)


class LargeContent(Struct, frozen=True):
    """A large content that is in the store, but not yet in the database."""

    digest: bytes
    length: int
    raw: int
    codec: int
    fresh: bool


def has_holes(found: os.stat_result) -> bool:
    """Whether at least half of a large file is holes."""
    return found.st_size >= LARGE and found.st_blocks * 512 < found.st_size // 2


def store_large(store: CheckpointStore, fd: int, size: int, *, sparse: bool) -> LargeContent:
    """Copy an open file into the store under the digest of its content."""
    temporary = store.objects / f".{os.urandom(8).hex()}"
    out = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        codec = RAW
        if not _clone(fd, out):
            refuse_to_fill(out, os.fstat(fd).st_blocks * 512 if sparse else size // 8)
            if not sparse and _worth_packing(fd, size):
                codec = ZSTD
            else:
                _copy_data(fd, out, size)
        digest = _pack(fd, out, size) if codec == ZSTD else digest_of(out, size, sparse=sparse)
        known = store.object_path(digest)
        fresh = not store.has(digest)
        if codec == RAW and os.fstat(out).st_size != size:
            raise EOFError("the file's size changed while it was copied")
        length = os.fstat(out).st_size
        if fresh:
            temporary.rename(known)
        return LargeContent(digest, length, size, codec, fresh)
    finally:
        os.close(out)
        with suppress(FileNotFoundError):
            temporary.unlink()


def unpack(store: CheckpointStore, digest: bytes, location: ContentLocation, out: int) -> None:
    """Write a large content into an open, empty file."""
    with opened(store.object_path(digest), os.O_RDONLY | os.O_CLOEXEC) as source:
        if location.frame.codec == ZSTD:
            with open(source, "rb", closefd=False) as file:
                for chunk in zstandard.ZstdDecompressor().read_to_iter(file, write_size=CHUNK):
                    write_all(out, chunk)
        elif not _clone(source, out):
            _copy_data(source, out, location.size)


def digest_of(fd: int, size: int, *, sparse: bool) -> bytes:
    """The digest of an open file's content; for a sparse one, of its blocks that are not zero."""
    import hashlib

    sha = hashlib.sha256()
    if not sparse:
        at = 0
        while chunk := os.pread(fd, CHUNK, at):
            sha.update(chunk)
            at += len(chunk)
        return sha.digest()
    sha.update(size.to_bytes(8, "big"))
    last = -1
    for start, end in _extents(fd, size):
        at = max(start - start % BLOCK, last)
        while at < end:
            block = os.pread(fd, BLOCK, at)
            if block and block != _ZEROS[: len(block)]:
                sha.update(at.to_bytes(8, "big"))
                sha.update(block)
            at += BLOCK
        last = at
    return SPARSE + sha.digest()


def _extents(fd: int, size: int) -> Iterator[tuple[int, int]]:
    """Where an open file has data."""
    at = 0
    while at < size:
        try:
            start = os.lseek(fd, at, os.SEEK_DATA)
            end = os.lseek(fd, start, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return
            if error.errno != errno.EINVAL:
                raise
            start, end = at, size
        yield start, min(end, size)
        at = end


def _clone(source: int, out: int) -> bool:
    try:
        fcntl.ioctl(out, _FICLONE, source)
    except OSError:
        return False
    return True


def _copy_data(source: int, out: int, size: int) -> None:
    """Copy data and leave holes."""
    for start, end in list(_extents(source, size)):
        at = start
        while at < end:
            done = _copy_range(source, out, min(CHUNK * 8, end - at), at)
            if not done:
                break
            at += done
    os.ftruncate(out, size)


def _copy_range(source: int, out: int, length: int, at: int) -> int:
    try:
        return copy_range(source, out, length, at)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM):
            raise
    chunk = os.pread(source, min(length, CHUNK), at)
    os.lseek(out, at, os.SEEK_SET)
    write_all(out, chunk)
    return len(chunk)


def _worth_packing(fd: int, size: int) -> bool:
    """Whether samples from start, middle and end get smaller by a tenth."""
    sample = b"".join(os.pread(fd, BLOCK, at) for at in (0, size // 2, max(0, size - BLOCK)))
    return len(zstandard.ZstdCompressor(level=LEVEL).compress(sample)) < len(sample) * 0.9


def _pack(fd: int, out: int, size: int) -> bytes:
    """Compress an open file into another; returns its digest."""
    import hashlib

    sha = hashlib.sha256()
    packer = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True, threads=-1).compressobj(size=size)
    at = 0
    while at < size and (chunk := os.pread(fd, min(CHUNK, size - at), at)):
        sha.update(chunk)
        write_all(out, packer.compress(chunk))
        at += len(chunk)
    if at != size:
        raise EOFError("the file became shorter while it was copied")
    write_all(out, packer.flush())
    return sha.digest()
