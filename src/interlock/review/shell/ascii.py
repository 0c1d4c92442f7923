"""ASCII: a script in the letters that the parser can be trusted with, and back.

The parser's scanner reads out of bounds on a brace that is followed by some letter beyond ASCII, which ends the
process; so it gets every such letter as `%@HEX@%`, which is part of a word just as the letter is.
"""

from __future__ import annotations

import re

FOREIGN = re.compile(r"[^\x01-\x7f]|%(?=@)")
MARKED = re.compile(r"%@([0-9a-f]{1,6})@%")
MARK = "%@"
LAST = 0x10FFFF


def to_ascii(text: str) -> str:
    """The text with letters beyond ASCII and what looks like a mark marked; a NUL, which no shell knows, is a blank."""
    if text.isascii() and "\0" not in text and MARK not in text:
        return text
    return FOREIGN.sub(lambda found: " " if found[0] == "\0" else f"{MARK}{ord(found[0]):x}@%", text)


def from_ascii(text: str) -> str:
    """The text as it was."""
    return MARKED.sub(letter, text) if MARK in text else text


def letter(found: re.Match[str]) -> str:
    point = int(found[1], 16)
    return chr(point) if point <= LAST and not 0xD800 <= point < 0xE000 else found[0]
