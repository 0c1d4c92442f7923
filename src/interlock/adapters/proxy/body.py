"""HTTP bodies: decompression, whole answers and server-sent events, with their original bytes."""

from __future__ import annotations

import re
import zlib

import httpcore
import msgspec
import zstandard
from msgspec import Struct

from ...core import from_json
from .formats import Json, ReplyReader
from .upstream_connection import UpstreamResponse

MOST_PLAIN = 32 * 1024 * 1024
"""The most bytes of a body after decompression: no API uses longer ones, and it stops a decompression bomb."""


def plain(data: bytes, encoding: str) -> bytes:
    """The decompressed bytes; ValueError for an unknown encoding."""
    match encoding.strip().lower():
        case "" | "identity":
            return data
        case "gzip" | "x-gzip":
            return _inflate(data, 16 + zlib.MAX_WBITS)
        case "deflate":
            return _inflate(data, zlib.MAX_WBITS)
        case "zstd":
            with zstandard.ZstdDecompressor(max_window_size=MOST_PLAIN).stream_reader(data) as reader:
                return _bounded(reader.read(MOST_PLAIN + 1))
    raise ValueError(f"the encoding {encoding} is unknown")


def _inflate(data: bytes, window: int) -> bytes:
    inflating = zlib.decompressobj(window)
    found = _bounded(inflating.decompress(data, MOST_PLAIN + 1))
    if not inflating.eof:
        raise ValueError("the compressed body is cut off")
    return found


def _bounded(data: bytes) -> bytes:
    if len(data) > MOST_PLAIN:
        raise ValueError(f"the body is longer than {MOST_PLAIN >> 20} MB")
    return data


def read_bounded(response: UpstreamResponse) -> bytes:
    """A whole body that has to be judged before the client gets it."""
    whole = bytearray()
    for data in response.stream:
        whole += data
        if len(whole) > MOST_PLAIN:
            raise AnswerTooLong
    return bytes(whole)


class StreamCut(httpcore.RemoteProtocolError):
    """Raised when a stream of events ends in the middle of a call."""

    def __init__(self) -> None:
        super().__init__("the server disconnected in the middle of a call")


class AnswerTooLong(httpcore.RemoteProtocolError):
    """Raised when an answer is too long to be judged: the client does not get the rest."""

    def __init__(self) -> None:
        super().__init__(f"the answer is longer than {MOST_PLAIN >> 20} MB, too long to review")


def read_whole(data: bytes, response: UpstreamResponse, reader: ReplyReader) -> None:
    """Feed a whole answer to a reader."""
    data = plain(data, header(response, b"content-encoding"))
    if not says_events(response):
        reader.feed_whole(from_json(data))
        return
    for event in EventParser().feed(data + b"\n\n"):
        if event.data is not None:
            reader.feed(event.data)


def header(response: UpstreamResponse, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in response.headers if key.lower() == name), "")


def says_events(response: UpstreamResponse) -> bool:
    """Whether the answer is a stream of events."""
    return "event-stream" in header(response, b"content-type")


def is_readable_stream(response: UpstreamResponse) -> bool:
    """Whether its events can be read as they arrive."""
    return says_events(response) and header(response, b"content-encoding") in ("", "identity")


END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
LONGEST_END = 4


class ServerSentEvent(Struct, frozen=True):
    """One event; `data` is None if it has none that is a JSON object."""

    raw: bytes
    data: Json | None


class EventParser:
    """Splits a stream into events; `rest` is an incomplete event."""

    def __init__(self) -> None:
        self.rest = bytearray()

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """The events that are complete now."""
        # Do not search the same bytes again, or an endless event would take ever longer.
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
