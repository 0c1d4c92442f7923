"""StoredStreams: converts what a command prints to redacted text, and stores it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from .chunks import GAP, GATHER_S, Chunk, now
from .kept_files import Latest, OutputWriter, Printed
from .plain_text import PlainText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .terminal_text import TerminalText


class StoredStreams:
    """For one thread. OSError if the folder cannot be written."""

    def __init__(self, folder: str, bound: int) -> None:
        self.writer = OutputWriter(Path(folder), bound)
        self._texts: dict[str, PlainText | TerminalText] = {}

    def store(self, pieces: list[Chunk], dropped: int) -> None:
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
            text = self._texts[stream] = _text(stream, size)
        if size is not None:
            text.resize(*size)
        self._write(at, text.feed(data))

    def _write(self, at: float, pieces: list[tuple[str, bytes]]) -> None:
        for stream, data in pieces:
            if data:
                self.writer.add(Printed(at, stream, data))


def _text(stream: str, size: tuple[int, int] | None) -> PlainText | TerminalText:
    if size is None:
        return PlainText(stream)
    from .terminal_text import TerminalText

    return TerminalText(*size)
