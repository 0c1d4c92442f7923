"""SHA-256 of what is short, without hashlib, which loads a library of ciphers: a megabyte, and milliseconds.

That library is several times faster, so it does the work of a process that has much of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast

try:
    from _sha256 import sha256 as _found  # type: ignore[import-not-found]
except ImportError:
    # Another version of Python, which has it elsewhere.
    _found = None

SOON = 1 << 20
"""Bytes that are hashed without the library, before it pays to load it."""


class Hash(Protocol):
    """What a hash gives."""

    def digest(self) -> bytes: ...

    def hexdigest(self) -> str: ...


_short = cast("Callable[[bytes], Hash] | None", cast("Any", _found))
_left = SOON


def sha256(data: bytes) -> Hash:
    """As `hashlib.sha256`, for all of the data at once."""
    global _left
    if _short is not None and _left > len(data):
        _left -= len(data)
        return _short(data)
    import hashlib

    return hashlib.sha256(data)
