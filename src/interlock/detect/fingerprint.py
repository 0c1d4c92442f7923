"""Fingerprints: short numbers for long texts, the same in every process."""

from __future__ import annotations

import zlib

import msgspec

_encoder = msgspec.json.Encoder(order="deterministic")


def fingerprint(text: str) -> int:
    """A number for a text: equal texts, equal numbers; the length takes part, so that a collision needs both."""
    raw = text.encode("utf-8", "surrogatepass")
    return zlib.crc32(raw) | (len(raw) & 0x7FFFFFFF) << 32


def canonical(arguments: dict[str, object]) -> str:
    """Arguments as one text that does not depend on the order of keys."""
    return _encoder.encode(arguments).decode()
