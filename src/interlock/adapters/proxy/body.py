"""Bodies: what is in them, compressed or not, whole or as events."""

from __future__ import annotations

import gzip
import zlib

import zstandard

from ...core.decoding import from_json
from .formats import ReplyReader
from .sse import EventParser
from .upstream_connection import UpstreamResponse


def plain(data: bytes, encoding: str) -> bytes:
    """Bytes without their compression; ValueError for one that is not known."""
    match encoding.strip().lower():
        case "" | "identity":
            return data
        case "gzip" | "x-gzip":
            return gzip.decompress(data)
        case "deflate":
            return zlib.decompress(data)
        case "zstd":
            return zstandard.ZstdDecompressor().decompressobj().decompress(data)
    raise ValueError(f"the encoding {encoding} is not known")


def read_whole(data: bytes, response: UpstreamResponse, reader: ReplyReader) -> None:
    """Have a whole answer read."""
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
    """Whether its events can be read as they come."""
    return says_events(response) and header(response, b"content-encoding") in ("", "identity")
