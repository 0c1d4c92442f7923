"""Kept output for people: nothing that steers a terminal or turns the direction of writing reaches theirs."""

from __future__ import annotations

import re

from ..core import printable

_SEQUENCE = re.compile(r"\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]|\r(?=\n)")


def readable(text: str) -> str:
    """The text without escape sequences; every other control character is replaced."""
    return text if text.isprintable() else printable(_SEQUENCE.sub("", text))
