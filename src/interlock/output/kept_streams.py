"""KeptStreams: the streams of one run, each read in its way, and the file that all of them go to."""

from __future__ import annotations

import contextlib
from pathlib import Path

from .chunks import GAP, GATHER_S, Chunk, Source, now
from .kept_files import Latest, OutputWriter, Printed
from .plain_text import PlainText
from .terminal_text import TerminalText


class KeptStreams:
    """Used by one thread."""

    def __init__(self, folder: Path, bound: int) -> None:
        self.writer = OutputWriter(folder, bound)
        self._texts: dict[str, PlainText | TerminalText] = {}

    def keep(self, taken: list[Chunk], dropped: int) -> None:
        """Keep these, after so many bytes for which there was no time."""
        if dropped:
            self.writer.add(Printed(taken[0][0], GAP, str(dropped).encode()))
        at, source, parts = taken[0][0], taken[0][1], [taken[0][2]]
        for when, where, data in taken[1:]:
            if where is source and when - at < GATHER_S:
                parts.append(data)
                continue
            self._add(at, source, b"".join(parts))
            at, source, parts = when, where, [data]
        self._add(at, source, b"".join(parts))
        texts = self._texts.values()
        line = next((words for text in texts if (words := text.unfinished())), "")
        self.writer.set_latest(
            Latest(taken[-1][0], line, next((rows for text in texts if (rows := text.screen())), ()))
        )

    def finish(self) -> None:
        """Keep what is not whole: nothing follows."""
        for text in self._texts.values():
            self._write(now(), text.finish())
        with contextlib.suppress(OSError):
            self.writer.set_latest(Latest(now()))
        self.writer.close()

    def _add(self, at: float, source: Source, data: bytes) -> None:
        stream, size = source
        text = self._texts.get(stream)
        if text is None:
            text = self._texts[stream] = TerminalText(*size()) if size is not None else PlainText(stream)
        if size is not None and isinstance(text, TerminalText):
            text.resize(*size())
        self._write(at, text.feed(data))

    def _write(self, at: float, pieces: list[tuple[str, bytes]]) -> None:
        for stream, data in pieces:
            if data:
                self.writer.add(Printed(at, stream, data))
