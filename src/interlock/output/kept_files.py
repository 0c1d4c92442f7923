"""The kept output of a run: its first half and its newest part, in files that stay within a bound.

`head` takes the first half of the bound; the rest goes to segments, the oldest of which are removed. Each piece is
a line `TIME STREAM LENGTH` and that many bytes. `latest.json` has the incomplete output: the current line, and the
screen of the command.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..core import OWN_FILE, open_regular, read_small, write_whole
from .chunks import GAP

SEGMENTS = 4
"""How many segments are kept, including the current one; together they are as large as the head."""

HEADER = 64
"""The longest header of a piece, in bytes."""

LATEST = "latest.json"


class Printed(NamedTuple):
    """A piece of output: time, stream, and bytes, which may contain control characters."""

    time: float
    stream: str
    data: bytes

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")


class Latest(NamedTuple):
    """The time of the last output, and the incomplete output: the unfinished line, the current screen."""

    time: float = 0.0
    line: str = ""
    screen: tuple[str, ...] = ()


class OutputWriter:
    """Appends pieces within `bound` bytes of disk. One writer per folder; a successor continues where one ended."""

    def __init__(self, folder: Path, bound: int) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        self._folder, self._half = folder, max(bound // 2, 1)
        self._segment = max(self._half // SEGMENTS, 1)
        segments = _segments(folder)
        self._file = _append(segments[-1] if segments else folder / "head")
        self._room = (self._segment if segments else self._half) - os.fstat(self._file).st_size
        self._in_head = not segments
        self._number = _number(segments[-1]) if segments else 0
        self._latest = Latest()

    @property
    def filling_head(self) -> bool:
        """Whether output still goes to the head, which is never removed."""
        return self._in_head

    def add(self, piece: Printed) -> None:
        """Store a piece. A piece larger than a segment is split."""
        for at in range(0, len(piece.data), step := max(1, min(self._segment, self._half) - HEADER)):
            data = piece.data[at : at + step]
            record = b"%.3f %s %d\n" % (piece.time, piece.stream.encode(), len(data)) + data
            if len(record) > self._room:
                self._next_segment()
            os.write(self._file, record)
            self._room -= len(record)

    def set_latest(self, latest: Latest) -> None:
        """Replace the unfinished line and the screen."""
        if latest == self._latest:
            return
        self._latest = latest
        words = json.dumps(latest._asdict(), ensure_ascii=False)
        write_whole(self._folder / LATEST, words.encode("utf-8", "replace"))

    def close(self) -> None:
        os.close(self._file)

    def _next_segment(self) -> None:
        os.close(self._file)
        self._number += 1
        self._in_head = False
        for old in _segments(self._folder)[: -(SEGMENTS - 1)]:
            old.unlink(missing_ok=True)
        self._file = _append(self._folder / f"tail-{self._number:09d}")
        self._room = self._segment


class OutputReader:
    """Reads pieces in order, even while they are being written: the next `read` returns new ones."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number, self._offset = 0, 0

    def read(self, since: float = 0.0) -> Iterator[Printed]:
        """The pieces from this time on that were not read before; a GAP in place of removed ones."""
        while True:
            complete, at = False, 0.0
            with contextlib.suppress(FileNotFoundError):
                for piece in self._read_file():
                    at = piece.time
                    if piece.time >= since:
                        yield piece
                complete = True
            after = [path for path in _segments(self._folder) if _number(path) > self._number]
            if not after:
                return
            if complete and self._unread():
                # It grew in between; it is complete, because the next segment exists.
                continue
            if _number(after[0]) > self._number + 1 and at >= since:
                yield Printed(at, GAP, b"")
            self._number, self._offset = _number(after[0]), 0

    def newest(self, most: int) -> tuple[list[Printed], bool]:
        """The newest pieces, at least `most` bytes if available, and whether there are older ones."""
        found: list[Printed] = []
        for number in reversed([0, *map(_number, _segments(self._folder))]):
            self._number, self._offset = number, 0
            with contextlib.suppress(FileNotFoundError):
                found = [*self._read_file(), *found]
            if sum(len(piece.data) for piece in found) >= most:
                return found, number > 0
        return found, False

    def latest(self) -> Latest:
        """The time of the last output, and the incomplete output; empty if there was none."""
        try:
            latest = Latest(**json.loads(read_small(self._folder / LATEST)))
            return latest._replace(screen=tuple(latest.screen))
        except (OSError, ValueError, TypeError):
            return Latest()

    def size(self) -> int:
        """Bytes on disk."""
        with contextlib.suppress(OSError):
            return sum(path.stat().st_size for path in self._folder.iterdir())
        return 0

    @property
    def _path(self) -> Path:
        return self._folder / (f"tail-{self._number:09d}" if self._number else "head")

    def _unread(self) -> bool:
        try:
            return self._path.stat().st_size > self._offset
        except OSError:
            return False

    def _read_file(self) -> Iterator[Printed]:
        with open_regular(self._path) as file:
            file.seek(self._offset)
            while header := file.readline(HEADER):
                try:
                    at, stream, length = header.split()
                    piece = Printed(float(at), stream.decode(), file.read(int(length)))
                except ValueError:
                    return
                if len(piece.data) < int(length):
                    # It is still being written.
                    return
                self._offset = file.tell()
                yield piece


def _append(path: Path) -> int:
    """The file, open for appending; a truncated last piece is removed."""
    whole = 0
    with contextlib.suppress(FileNotFoundError):
        reader = OutputReader(path.parent)
        reader._number = 0 if path.name == "head" else _number(path)
        for _ in reader._read_file():
            whole = reader._offset
        os.truncate(path, whole)
    return os.open(path, OWN_FILE | os.O_APPEND, 0o600)


def _segments(folder: Path) -> list[Path]:
    return sorted(folder.glob("tail-*"))


def _number(path: Path) -> int:
    return int(path.name.removeprefix("tail-"))
