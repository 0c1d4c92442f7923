"""Server-sent events out of a stream of bytes, each with the very bytes that it came in."""

from __future__ import annotations

import re

import msgspec
from msgspec import Struct

from ...core import from_json
from .formats import Json

END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
LONGEST_END = 4


class ServerSentEvent(Struct, frozen=True):
    """One event; `data` is None where it has none that is a JSON object."""

    raw: bytes
    data: Json | None


class EventParser:
    """Feed it what comes; `rest` is what has not become an event yet."""

    def __init__(self) -> None:
        self.rest = bytearray()

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """The events that are whole now."""
        # What was searched before is not searched again, or one endless event would take ever longer.
        searched, start, found = max(0, len(self.rest) - LONGEST_END), 0, []
        self.rest += data
        for end in [each.end() for each in END.finditer(self.rest, searched)]:
            raw = bytes(self.rest[start:end])
            found.append(ServerSentEvent(raw, _data(raw)))
            start = end
        del self.rest[:start]
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
