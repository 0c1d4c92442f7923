"""SHA-256 of short data, without hashlib, which loads a crypto library: a megabyte, and milliseconds.

That library is several times faster, so it is used once a process has hashed much data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast

try:
    from _sha256 import sha256 as _found  # type: ignore[import-not-found]
except ImportError:
    # A Python version that has it elsewhere.
    _found = None

LOAD_LIBRARY_AFTER = 1 << 20
"""Bytes that are hashed before it pays to load the library."""


class Hash(Protocol):
    """The interface of a hash."""

    def digest(self) -> bytes: ...

    def hexdigest(self) -> str: ...


_short = cast("Callable[[bytes], Hash] | None", cast("Any", _found))
_left = LOAD_LIBRARY_AFTER


def sha256(data: bytes) -> Hash:
    """The same as `hashlib.sha256` of the whole data."""
    global _left
    if _short is not None and _left > len(data):
        _left -= len(data)
        return _short(data)
    import hashlib

    return hashlib.sha256(data)
