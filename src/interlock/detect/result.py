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


_SILENT = (b"no output", b"any output", b"without output", b"(no content)", b"no matches found", b"no files found")
"""How tools say that a call printed nothing, or found nothing."""
_SHORT = 100
"""Characters of such a remark at most."""


class CallResult(Struct, frozen=True):
    """The normalised text of a result, its fingerprint, the words that it begins with, and whether it says nothing."""

    text: bytes
    mark: int
    words: set[bytes]
    empty: bool


def read_result(content: str) -> CallResult:
    """Read what a call brought."""
    return _read(bounded(content))


@lru_cache(REMEMBERED)
def _read(raw: bytes) -> CallResult:
    text = normalise(raw)
    return CallResult(text, fingerprint(text), words(text[:READ]), _is_empty(text))


def _is_empty(text: bytes) -> bool:
    if len(text) > _SHORT:
        return False
    said = text.strip().lower()
    hinted = b"output" in said or b"found" in said or b"content" in said
    return not said or (hinted and any(silent in said for silent in _SILENT))
