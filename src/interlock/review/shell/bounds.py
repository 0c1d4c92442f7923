"""Bounds: how much of a script is read, and what is done with one that is too much."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_CHARACTERS = 262_144
"""A quarter of a megabyte takes the parser some 30 milliseconds; a script that long is data, not a step."""

MAX_MARKS = 400
"""Pipes, brackets and heredocs outside quotes: the parser's recovery from errors is quadratic in them."""

MAX_NODES = 20_000
"""Nodes of syntax trees looked at per review, nested scripts included."""

MAX_DEPTH = 40
"""Nesting of statements, substitutions and wrappers."""

MAX_COMMANDS = 2_000
"""Commands kept per review."""

MAX_PIECES = 2_000
"""Pieces that a script that is too much is cut into."""

MAX_PIECE = 4_096

MAX_HEREDOCS = 32
"""Each one that has no end is looked for to the end of the text."""

HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1[^\n]*\n.*?\n[ \t]*\2[ \t]*(?=\n|\Z)", re.DOTALL)
QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
SEPARATOR = re.compile(r"[;&|\n(){}`]+|\$\(")


def is_too_much(text: str) -> bool:
    """Whether the parser might take long over this text."""
    if len(text) <= MAX_MARKS:
        return False
    if len(text) > MAX_CHARACTERS:
        return True
    if marks(text) <= MAX_MARKS:
        return False
    return marks(without_data(text)) > MAX_MARKS


def marks(text: str) -> int:
    return text.count("|") + text.count("(") + text.count("<<") + text.count("`") + text.count("&")


def pieces(text: str) -> Iterator[str]:
    """Roughly the simple commands of a script that is too much: cut at separators, without quoted text and heredocs."""
    count = 0
    if len(text) > MAX_CHARACTERS:
        half = MAX_CHARACTERS // 2
        text = f"{text[:half]}\n{text[-half:]}"
    for part in SEPARATOR.split(without_data(text)):
        piece = part.strip()
        if piece:
            yield piece[:MAX_PIECE]
            count += 1
            if count >= MAX_PIECES:
                return


def without_data(text: str) -> str:
    """The script with the bodies of its heredocs and its quoted text taken out."""
    return QUOTED.sub(keep_short, HEREDOC.sub(" ", text) if text.count("<<") <= MAX_HEREDOCS else text)


def keep_short(found: re.Match[str]) -> str:
    """A quoted path or program name stays readable; longer text is data."""
    inner = found[0][1:-1]
    return inner if len(inner) <= 64 and SEPARATOR.search(inner) is None else "_"
