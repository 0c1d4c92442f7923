"""Fingerprints: short stand-ins for long texts, the same in every process, and how alike two of them are."""

from __future__ import annotations

import zlib
from collections.abc import Set as AbstractSet
from functools import lru_cache

import msgspec

WORDS = 160
"""Distinct words kept of a text."""

_LETTERS = bytes(byte if chr(byte).isalnum() or byte == 95 or byte >= 128 else 32 for byte in bytes(range(256)).lower())
_encode = msgspec.json.Encoder(order="deterministic").encode


def fingerprint(text: bytes) -> int:
    """A number for a text; the length takes part, so that a collision needs both."""
    return zlib.crc32(text) | (len(text) & 0x3FFFFFFF) << 32


def canonical(arguments: dict[str, object]) -> bytes:
    """Arguments as one text that does not depend on the order of keys."""
    try:
        return _encode(arguments)
    except (UnicodeEncodeError, TypeError, OverflowError):
        # What JSON cannot say (half a surrogate pair, say) is read as Python shows it.
        return repr(sorted(arguments.items(), key=str)).encode("utf-8", "replace")


def words(text: bytes) -> set[bytes]:
    """The distinct words of a text, in lower case."""
    return set(text.translate(_LETTERS).split())


@lru_cache(maxsize=256)
def name_words(name: str) -> frozenset[bytes]:
    """The words of a tool's name; a run has few of them."""
    return frozenset(words(name.encode("utf-8", "replace")))


def alike(one: AbstractSet[bytes], other: AbstractSet[bytes]) -> float:
    """Shared words among all words of two texts, 0..1; two texts without words are alike."""
    if not one or not other:
        return 1.0 if not one and not other else 0.0
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)
