"""Lines of an arbitrary file: gzip (up to any damage) or plain, bounded, with the line number of each error."""

from __future__ import annotations

import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from msgspec import Struct

from ...core import BadInput, open_regular

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


MAX_LINE = 32 * 1024 * 1024
"""A longer line is rejected: no real trace has one, and memory must stay bounded."""

READ_SIZE = 1024 * 1024
BOM = b"\xef\xbb\xbf"
GZIP_MAGIC = b"\x1f\x8b"


class LineError(Struct, frozen=True):
    """A line that cannot be used: where it is, what is wrong, and what to do."""

    line: int
    what: str
    todo: str


def read_lines(name: str) -> Iterator[tuple[int, bytes | LineError]]:
    """Number and content of each non-blank line; `-` is standard input."""
    if name == "-":
        if sys.stdin is None:
            raise BadInput("standard input is closed", where="-", todo="Pipe traces into it, or specify files")
        if sys.stdin.closed:
            raise BadInput("standard input was already read", where="-", todo="Name - once")
        yield from _lines(sys.stdin.buffer)
        return
    path = Path(name)
    if path.is_dir():
        raise BadInput("this is a directory", where=name, todo=f"Specify its files, for example {path}/*.jsonl")
    try:
        with open_regular(path, links=True) as file:
            yield from _lines(file)
    except FileNotFoundError:
        raise BadInput("the file does not exist", where=name, todo="Check the name") from None
    except PermissionError:
        raise BadInput("the file cannot be read", where=name, todo="Check its permissions") from None


def _lines(raw: IO[bytes]) -> Iterator[tuple[int, bytes | LineError]]:
    start = io.BufferedReader(cast(io.RawIOBase, raw), READ_SIZE)
    source: IO[bytes] = start
    if start.peek(2)[:2] == GZIP_MAGIC:
        source = io.BufferedReader(Unpacked(start), READ_SIZE)
    number = 0
    while True:
        number += 1
        try:
            line = source.readline(MAX_LINE + 1)
            if len(line) > MAX_LINE and not line.endswith(b"\n"):
                _skip_line(source)
                yield (
                    number,
                    LineError(number, "the line is longer than 32 MiB", "Split the trace or shorten its contents"),
                )
                continue
        except (EOFError, zlib.error) as error:
            yield (
                number,
                LineError(number, f"the gzip data is damaged ({error})", "Compress or download the file again"),
            )
            return
        if not line:
            return
        if number == 1:
            line = line.removeprefix(BOM)
        if not line.isspace():
            yield number, line


def _skip_line(source: IO[bytes]) -> None:
    while True:
        piece = source.readline(READ_SIZE)
        if not piece or piece.endswith(b"\n"):
            return


PACKED = 64 * 1024
"""Compressed bytes to process at a time."""
PIECE = 64
"""Compressed bytes to process at a time when locating damage."""
MOST = 1024 * 1024
"""The most decompressed bytes at a time, whatever the compression ratio."""
GZIP = 31
"""zlib's window-bits value for a gzip header with the largest window."""


class Unpacked(io.RawIOBase):
    """A stream of decompressed bytes. Raises EOFError or zlib.error if the data ends early or is damaged."""

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
            # Another gzip member may follow; zeros are tape padding.
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
    """The output that can be decompressed before the data is damaged."""
    found = bytearray()
    with suppress(zlib.error):
        for start in range(0, len(packed), PIECE):
            found += inflate.decompress(packed[start : start + PIECE])
    return bytes(found)
