"""Text from outside that steers no terminal: the one place that decides what is harmless to print."""

from __future__ import annotations

CONTROL = (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0))
TURNING = (0x200E, 0x200F, 0x061C, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
HARMLESS = dict.fromkeys((*CONTROL, *TURNING), "\N{REPLACEMENT CHARACTER}")
"""What would steer a terminal, or turn the direction of a text so that it reads as another; tabs and new lines stay."""

ESCAPED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *TURNING)}
"""The same within JSON, where what is below a space is escaped anyway."""


def printable(text: str) -> str:
    """A text with every control character replaced."""
    return text if text.isascii() and text.isprintable() else _surrogates(text).translate(HARMLESS)


def _surrogates(text: str) -> str:
    """File names may have bytes that are not text: no stream takes those."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
