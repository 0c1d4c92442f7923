"""RedactedLines: redacts a stream of bytes that arrives in arbitrary pieces. PlainText: a stream without a terminal."""

from __future__ import annotations

import re

from ..redact import redactor

LONGEST_LINE = 256 * 1024
"""A line with more bytes than this is output in parts."""

LONGEST_KEY = 64 * 1024
"""How many bytes to wait for the end of a private key."""

CONTEXT = 2048
"""How many bytes before a line are searched for the name of its value."""

UNFINISHED_WORD = 12
"""The longest last word of an unfinished line that is shown: a longer one may be part of a secret."""

_KEY_BEGINS = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----")
_KEY_ENDS = re.compile(rb"-----END [A-Z ]*PRIVATE KEY[A-Z ]*-----")


class RedactedLines:
    """Outputs whole lines. Incomplete lines are held back, so that no secret is split."""

    def __init__(self) -> None:
        self._held = b""
        # The previous lines, which may name the value of the next one.
        self._before = b""

    def feed(self, data: bytes) -> bytes:
        """Add bytes; returns those that can be shown now, redacted."""
        self._held += data
        cut = self._held.rfind(b"\n") + 1
        key = self._open_key(cut)
        if key is not None:
            cut = key
        elif len(self._held) - cut > LONGEST_LINE:
            cut = _word_end(self._held)
        return self._give_out(cut)

    def finish(self) -> bytes:
        """The rest, at the end of the stream."""
        return self._give_out(len(self._held))

    def unfinished(self) -> str:
        """The unfinished line, as far as it can be shown."""
        last = self._held[self._held.rfind(b"\n") + 1 :][-CONTEXT:]
        words = redact_bytes(last).decode("utf-8", "replace")
        at = len(words) - len(words.split()[-1]) if words and not words[-1].isspace() else len(words)
        return words if len(words) - at <= UNFINISHED_WORD else words[:at] + "…"

    def _give_out(self, cut: int) -> bytes:
        data, self._held = self._held[:cut], self._held[cut:]
        if not data:
            return b""
        before, self._before = self._before, _last_lines(self._before + data)
        if not redactor().suspects(before + data):
            return data
        whole, known = redact_bytes(before + data), redact_bytes(before)
        if whole.startswith(known):
            return whole[len(known) :]
        # A secret begins in earlier output and ends here: only what follows it is unchanged.
        return redact_bytes(data) if whole.endswith(redact_bytes(data)) else _beyond(known, whole)

    def _open_key(self, cut: int) -> int | None:
        begins = next(iter(reversed(list(_KEY_BEGINS.finditer(self._held, 0, cut)))), None)
        if begins is None or _KEY_ENDS.search(self._held, begins.end(), cut) or cut - begins.start() > LONGEST_KEY:
            return None
        return self._held.rfind(b"\n", 0, begins.start()) + 1


class PlainText:
    """A stream that is not a terminal: `feed` yields pieces of (stream, text) that are final."""

    def __init__(self, stream: str) -> None:
        self._stream, self._lines = stream, RedactedLines()

    def resize(self, columns: int, rows: int) -> None:
        """Does nothing: a plain stream has no size."""

    def feed(self, data: bytes) -> list[tuple[str, bytes]]:
        return [(self._stream, self._lines.feed(data))]

    def finish(self) -> list[tuple[str, bytes]]:
        return [(self._stream, self._lines.finish())]

    def unfinished(self) -> str:
        return self._lines.unfinished()

    def screen(self) -> tuple[str, ...]:
        return ()


def redact_bytes(data: bytes) -> bytes:
    """The bytes without secrets; those that are not UTF-8 stay unchanged."""
    try:
        return redactor().redact(data.decode()).encode()
    except UnicodeDecodeError:
        return redactor().redact(data.decode("latin-1")).encode("latin-1", "replace")


def _beyond(known: bytes, whole: bytes) -> bytes:
    same = next(
        (at for at, (a, b) in enumerate(zip(known, whole, strict=False)) if a != b), min(len(known), len(whole))
    )
    return whole[same:]


def _last_lines(data: bytes) -> bytes:
    """The last two lines, which may name the next value."""
    tail = data[-CONTEXT:]
    return b"".join(tail.splitlines(keepends=True)[-2:])


def _word_end(data: bytes) -> int:
    """Where to divide a line that is too long: between words, if it has any."""
    at = max(data.rfind(b" ", -4096), data.rfind(b"\t", -4096), data.rfind(b",", -4096))
    return at + 1 if at >= 0 else len(data) - 1024
