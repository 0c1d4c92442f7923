"""Server-sent events out of a stream of bytes, each with the very bytes that it came in."""

from __future__ import annotations

import re

import msgspec
from msgspec import Struct

from ...core import from_json
from .formats import Json

END = re.compile(rb"\r\n\r\n|\n\n|\r\r")


class ServerSentEvent(Struct, frozen=True):
    """One event; `data` is None if it has none that is a JSON object."""

    raw: bytes
    data: Json | None


class EventParser:
    """Feed it what comes; `rest` is what has not become an event yet."""

    def __init__(self) -> None:
        self.rest = b""

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """The events that are whole now."""
        buffer, start, found = self.rest + data, 0, []
        for end in END.finditer(buffer):
            raw = buffer[start : end.end()]
            found.append(ServerSentEvent(raw, _data(raw)))
            start = end.end()
        self.rest = buffer[start:]
        return found


def _data(raw: bytes) -> Json | None:
    lines = [line[5:].removeprefix(b" ") for line in raw.splitlines() if line.startswith(b"data:")]
    if not lines:
        return None
    try:
        decoded = from_json(b"\n".join(lines))
    except msgspec.DecodeError:
        return None
    return decoded if isinstance(decoded, dict) else None
