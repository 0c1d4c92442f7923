"""Kept output for people: nothing that steers a terminal or turns the direction of writing reaches theirs."""

from __future__ import annotations

import re

_SEQUENCE = re.compile(r"\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]|\r(?=\n)")
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def readable(text: str) -> str:
    """The text without escape sequences; every other control character is shown as a picture of itself."""
    if text.isprintable():
        return text
    return _UNSAFE.sub(_picture, _SEQUENCE.sub("", text))


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"
