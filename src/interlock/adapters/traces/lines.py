"""Lines of a file that may be anything: gzip or plain, bounded, each fault named with its line."""

from __future__ import annotations

import io
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from msgspec import Struct

from ...core import BadInput
from .gzip_reader import Unpacked

MAX_LINE = 32 * 1024 * 1024
"""A longer line is refused: no trace of a sane agent has one, and memory must stay bounded."""

READ_SIZE = 1024 * 1024
BOM = b"\xef\xbb\xbf"
GZIP_MAGIC = b"\x1f\x8b"


class LineError(Struct, frozen=True):
    """A line that cannot be used: where, what, and what to do."""

    line: int
    what: str
    todo: str


def read_lines(name: str) -> Iterator[tuple[int, bytes | LineError]]:
    """Number and content of each line that is not blank; `-` is standard input."""
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
        with path.open("rb") as file:
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
