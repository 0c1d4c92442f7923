"""The process that stores a command's output; reads from stdin what storing_process.py writes."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from .chunks import GAP, GATHER_S, Piece, now
from .kept_files import Latest, OutputWriter, Printed
from .plain_text import PlainText
from .storing_process import READY, REFUSED, UNFINISHED

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import IO

    from .terminal_text import TerminalText


def main(arguments: list[str]) -> None:
    """Store the output that arrives; the arguments are the folder and the bound."""
    folder, bound = arguments
    with open(0, "rb") as pieces, open(1, "wb", buffering=0) as answers:
        try:
            streams = StoredStreams(folder, int(bound), pieces.read(int(pieces.readline())))
            answers.write(READY)
            while _store_next(streams, pieces, answers):
                pass
        except OSError:
            answers.write(REFUSED)
    # There is nothing to clean up.
    os._exit(0)


def _store_next(streams: StoredStreams, pieces: IO[bytes], answers: IO[bytes]) -> bool:
    count, dropped = map(int, pieces.readline().split() or (UNFINISHED, 0))
    if count > 0:
        streams.store([_read(pieces) for _ in range(count)], dropped)
        left = streams.left()
        length = UNFINISHED if left is None else len(left)
        answers.write(b"%d %d\n" % (streams.writer.filling_head, length) + (left or b""))
        return True
    if count == 0:
        streams.finish()
        answers.write(READY)
    return False


def _read(pieces: IO[bytes]) -> Piece:
    at, stream, columns, rows, length = pieces.readline().split()
    size = (int(columns), int(rows)) if int(columns) else None
    return float(at), (stream.decode(), size), pieces.read(int(length))


class StoredStreams:
    """Converts streams to text and stores it; for one thread. `left` is the state of a predecessor."""

    def __init__(self, folder: str, bound: int, left: bytes = b"") -> None:
        self.writer = OutputWriter(Path(folder), bound)
        self._texts: dict[str, PlainText | TerminalText] = {}
        self._before: dict[str, bytes] = {}
        while left:
            header, _, rest = left.partition(b"\n")
            stream, length = header.split()
            self._before[stream.decode()], left = rest[: int(length)], rest[int(length) :]

    def left(self) -> bytes | None:
        """The state that a successor needs to continue; None while something is incomplete."""
        found = self._before | {stream: text.left() for stream, text in self._texts.items()}
        parts = [(stream, before) for stream, before in found.items() if before is not None]
        if len(parts) < len(found):
            return None
        return b"".join(b"%s %d\n" % (stream.encode(), len(before)) + before for stream, before in parts)

    def store(self, pieces: list[Piece], dropped: int) -> None:
        """Store these pieces, after a gap of this many dropped bytes."""
        if dropped:
            self.writer.add(Printed(pieces[0][0], GAP, str(dropped).encode()))
        at, source, parts = pieces[0][0], pieces[0][1], [pieces[0][2]]
        for when, where, data in pieces[1:]:
            if where == source and when - at < GATHER_S:
                parts.append(data)
                continue
            self._add(at, source, b"".join(parts))
            at, source, parts = when, where, [data]
        self._add(at, source, b"".join(parts))
        texts = self._texts.values()
        line = next((words for text in texts if (words := text.unfinished())), "")
        self.writer.set_latest(
            Latest(pieces[-1][0], line, next((rows for text in texts if (rows := text.screen())), ()))
        )

    def finish(self) -> None:
        """Store incomplete output, and close."""
        for text in self._texts.values():
            self._write(now(), text.finish())
        with contextlib.suppress(OSError):
            self.writer.set_latest(Latest(now()))
        self.writer.close()

    def _add(self, at: float, source: tuple[str, tuple[int, int] | None], data: bytes) -> None:
        stream, size = source
        text = self._texts.get(stream)
        if text is None:
            text = self._texts[stream] = _text(stream, size, self._before.get(stream, b""))
        if size is not None:
            text.resize(*size)
        self._write(at, text.feed(data))

    def _write(self, at: float, pieces: list[tuple[str, bytes]]) -> None:
        for stream, data in pieces:
            if data:
                self.writer.add(Printed(at, stream, data))


def _text(stream: str, size: tuple[int, int] | None, before: bytes) -> PlainText | TerminalText:
    if size is None:
        return PlainText(stream, before)
    from .terminal_text import TerminalText

    return TerminalText(*size, before)
