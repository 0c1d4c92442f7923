"""Gzip data, unpacked as far as it is whole: what comes before the damage is as good as ever."""

from __future__ import annotations

import io
import zlib
from contextlib import suppress
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PACKED = 64 * 1024
"""Bytes that are unpacked together."""
PIECE = 64
"""Bytes that are unpacked together where the damage is looked for."""
MOST = 1024 * 1024
"""Unpacked bytes at a time, however small they were packed."""
GZIP = 31
"""What zlib calls a gzip header with the widest window."""


class Unpacked(io.RawIOBase):
    """A stream of the unpacked bytes. Raises EOFError or zlib.error where the data ends, or is damaged, too soon."""

    def __init__(self, packed: IO[bytes]) -> None:
        self._packed = packed
        self._inflate = zlib.decompressobj(GZIP)
        self._rest = b""
        self._ready = memoryview(b"")
        self._trouble: Exception | None = None
        self._began = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        into = memoryview(buffer).cast("B")
        while not self._ready:
            if self._trouble is not None:
                raise self._trouble
            self._rest = self._rest or self._packed.read(PACKED)
            if not self._rest:
                if self._began and not self._inflate.eof:
                    raise EOFError("it ends in the middle")
                return 0
            self._ready = memoryview(self._unpack())
        count = min(len(into), len(self._ready))
        into[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _unpack(self) -> bytes:
        if self._inflate.eof:
            # One member may follow another; zeros only fill a tape's block.
            self._rest = self._rest.lstrip(b"\0")
            if not self._rest:
                return b""
            self._inflate = zlib.decompressobj(GZIP)
        self._began = True
        before = self._inflate.copy()
        try:
            unpacked = self._inflate.decompress(self._rest, MOST)
        except zlib.error as error:
            self._trouble = error
            return _until_damage(before, self._rest)
        self._rest = self._inflate.unused_data if self._inflate.eof else self._inflate.unconsumed_tail
        return unpacked


def _until_damage(inflate: zlib._Decompress, packed: bytes) -> bytes:
    """What comes out of data before the place where it is damaged."""
    found = bytearray()
    with suppress(zlib.error):
        for start in range(0, len(packed), PIECE):
            found += inflate.decompress(packed[start : start + PIECE])
    return bytes(found)
