"""TerminalText: converts what a command draws on its terminal to readable lines.

The output of a command that prints lines is read as lines, without colours. If it moves the cursor, it is drawn on a
screen of the same size: lines that scroll off the top are final, the rest is the current screen.
"""

from __future__ import annotations

import codecs
import re
from typing import Any

import pyte

from .chunks import SCREEN, TERMINAL
from .plain_text import RedactedLines, redact_bytes

MOST_DRAWN = 512 * 1024
"""The most characters that are drawn at a time; more are read as lines, because drawing would not keep up."""

_STRINGS = r"\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"
_SEQUENCE = re.compile(rf"{_STRINGS}|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]|[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]{0,4096}\x1b?|[ -/]*)?$")
_DRAWS = re.compile(r"\x1b\[(?:[0-?]*[ABEFHJLMSTdfr]|\?(?:47|1047|1049)[hl])|\x1bM")
_ERASED = re.compile(r"[^\x08]\x08")

ALTERNATE = frozenset((47, 1047, 1049))
"""Private modes that switch to the alternate screen, whose content is discarded when it is left."""


class TerminalText:
    """For one terminal. `feed` yields pieces of (stream, text) that are final."""

    def __init__(self, columns: int, rows: int) -> None:
        self._held = ""
        self._lines = RedactedLines()
        self._screen: _Screen | None = None
        self._size = (columns, rows)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def resize(self, columns: int, rows: int) -> None:
        self._size = (columns, rows)
        if self._screen is not None:
            self._screen.resize(rows, columns)

    def feed(self, data: bytes) -> list[tuple[str, bytes]]:
        text = self._held + self._decoder.decode(data)
        rest = _UNFINISHED.search(text)
        self._held = text[rest.start() :] if rest is not None else ""
        text = text[: rest.start()] if rest is not None else text
        if self._screen is None and (draws := _DRAWS.search(text)):
            # Start at the beginning of the line, which may be part of the drawing.
            at = text.rfind("\n", 0, draws.start()) + 1
            lines = self._read_lines(text[:at])
            self._screen = _Screen(*self._size)
            return lines + self._draw(text[at:])
        if self._screen is None or len(text) > MOST_DRAWN:
            return self._read_lines(text)
        return self._draw(text)

    def finish(self) -> list[tuple[str, bytes]]:
        """The screen and the unfinished line, at the end of the stream."""
        rest = self._lines.finish()
        found = [(TERMINAL, rest)] if rest else []
        if self._screen is not None:
            stream = SCREEN if self._screen.alternate else TERMINAL
            found += _pieces(stream, self._screen.drain_scrolled() + self._screen.rows())
            self._screen = None
        return found

    def unfinished(self) -> str:
        return self._lines.unfinished() if self._screen is None else ""

    def screen(self) -> tuple[str, ...]:
        """The current screen; empty if the command only prints lines."""
        if self._screen is None:
            return ()
        return tuple(_redact_rows(self._screen.rows(), self._screen.columns))

    def _read_lines(self, text: str) -> list[tuple[str, bytes]]:
        plain = _SEQUENCE.sub("", text).replace("\r\n", "\n")
        if "\r" in plain or "\b" in plain:
            plain = "\n".join(map(_overwritten, plain.split("\n")))
        data = self._lines.feed(plain.encode("utf-8", "replace"))
        return [(TERMINAL, data)] if data else []

    def _draw(self, text: str) -> list[tuple[str, bytes]]:
        assert self._screen is not None
        self._screen.stream.feed(text)
        found = _pieces(SCREEN, left) if (left := self._screen.drain_left()) else []
        scrolled = self._screen.drain_scrolled()
        return found + _pieces(TERMINAL, _redact_rows(scrolled, self._screen.columns), redacted=True)


class _Screen(pyte.Screen):
    """A screen that keeps lines that scroll off the top, and the last content of the alternate screen."""

    def __init__(self, columns: int, rows: int) -> None:
        self.alternate = False
        self._scrolled: list[str] = []
        self._left: list[str] = []
        self._main: dict[int, Any] = {}
        super().__init__(columns, rows)
        self.stream = pyte.Stream(self)

    def rows(self) -> list[str]:
        """The screen's lines, without the blank ones at its end."""
        shown = [line.rstrip() for line in self.display]
        while shown and not shown[-1]:
            shown.pop()
        return shown

    def drain_scrolled(self) -> list[str]:
        drained, self._scrolled = self._scrolled, []
        return drained

    def drain_left(self) -> list[str]:
        drained, self._left = self._left, []
        return drained

    def index(self) -> None:
        top, bottom = self.margins or (0, self.lines - 1)
        if self.cursor.y == bottom and top == 0 and not self.alternate:
            line = self.buffer[0]
            self._scrolled.append("".join(line[x].data for x in range(self.columns)).rstrip())
        super().index()

    def set_mode(self, *modes: int, **kwargs: Any) -> None:
        super().set_mode(*modes, **kwargs)
        if kwargs.get("private") and ALTERNATE & set(modes) and not self.alternate:
            self.alternate, self._main = True, dict(self.buffer)
            self.buffer.clear()

    def reset_mode(self, *modes: int, **kwargs: Any) -> None:
        super().reset_mode(*modes, **kwargs)
        if kwargs.get("private") and ALTERNATE & set(modes) and self.alternate:
            self._left = self.rows()
            self.alternate = False
            self.buffer.clear()
            self.buffer.update(self._main)


def _overwritten(line: str) -> str:
    """A line after applying carriage returns and backspaces."""
    parts = [part for part in line.split("\r") if part]
    line = parts[-1] if parts else ""
    while "\b" in line and (shorter := _ERASED.sub("", line)) != line:
        line = shorter
    return line.replace("\b", "")


def _redact_rows(rows: list[str], columns: int) -> list[str]:
    """Rows without secrets, including secrets that wrap into the next row."""
    whole: list[list[str]] = []
    full = False
    for row in rows:
        if full:
            whole[-1].append(row)
        else:
            whole.append([row])
        full = len(row) >= columns
    clean: list[str] = []
    text = "\n".join("".join(parts) for parts in whole)
    redacted = redact_bytes(text.encode("utf-8", "replace")).decode("utf-8", "replace")
    if redacted == text:
        return rows
    lines = redacted.split("\n")
    if len(lines) != len(whole):
        # A multi-line secret has become one line.
        return lines
    for parts, line in zip(whole, lines, strict=True):
        clean += parts if "".join(parts) == line else [line]
    return clean


def _pieces(stream: str, rows: list[str], *, redacted: bool = False) -> list[tuple[str, bytes]]:
    if not rows:
        return []
    data = "".join(f"{row}\n" for row in rows).encode("utf-8", "replace")
    return [(stream, data if redacted else redact_bytes(data))]
