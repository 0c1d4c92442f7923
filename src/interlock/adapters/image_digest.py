"""Picture: what represents an image in the text of a result, so that another image is another result."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

TAIL = 65536
"""Characters read of an image; a PNG ends with a checksum of itself."""
_PLACES = ("image", "image_url", "input_image")


def image_placeholder(block: Mapping[str, object]) -> str:
    """A short name of an image by what is in it; empty for a block that is none.

    The letter before the number keeps it from being read as an id or a time, which do not tell results apart.
    """
    if block.get("type") not in _PLACES:
        return ""
    data = _data(block)
    return f"[image x{zlib.crc32(data[-TAIL:].encode('utf-8', 'replace')) + len(data):08x}]"


def _data(block: Mapping[str, object]) -> str:
    """The image itself or its address, wherever its provider puts it."""
    for key in ("source", "image_url", "data", "url", "file_id"):
        value = block.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, Mapping):
            return _data(value)
    return ""
