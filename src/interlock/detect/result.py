"""CallResult: what came back from a call, read into what can be compared."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from .fingerprint import fingerprint, words
from .normalise import bounded, normalise

READ = 1200
"""Bytes of a result whose words are read."""
REMEMBERED = 256
"""Results whose reading is remembered: of those that runs get, one in three came shortly before."""


class CallResult(Struct, frozen=True):
    """The normalised text of a result, its fingerprint, and the words that it begins with."""

    text: bytes
    mark: int
    words: set[bytes]


def read_result(content: str) -> CallResult:
    """Read what a call brought."""
    return _read(bounded(content))


@lru_cache(REMEMBERED)
def _read(raw: bytes) -> CallResult:
    text = normalise(raw)
    return CallResult(text, fingerprint(text), words(text[:READ]))
