"""Rough: a script that is too long for the parser, read word by word in linear time.

It handles quotes, separators, pipes, comments and heredocs, but not loops, functions and nesting: their parts are read
one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..wordlist import name_set
from .scope import ShellScope
from .words import unescape_quoted

MAX_PIECES = 200
"""Distinct commands checked, at the beginning and at the end."""

MAX_VALUE = 512
"""Characters of a variable's value."""

MAX_WORDS = 512
"""Words of one command."""

TOKEN = re.compile(
    r"(?P<blank>[ \t\r\f\v]+)|(?P<single>'[^']*')|(?P<double>\"(?:[^\"\\]|\\.)*\")|(?P<escape>\\.?)"
    r"|(?P<separator>\$\(|[;&|\n(){}`]+)|(?P<redirect>[<>]+&?)|(?P<plain>[^\s;&|(){}`'\"\\$<>]+|\$)|(?P<other>.)",
    re.DOTALL,
)
VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
KEYWORDS = name_set("if then else elif fi do done while until case esac in ! {")


def rough_commands(text: str, scope: ShellScope) -> Iterator[tuple[list[str], bool]]:
    """The words of every command, and whether its input is the previous one's output; without duplicates."""
    found = list(dict.fromkeys((tuple(words), piped) for words, piped in split(text, scope)))
    for words, piped in found if len(found) <= 2 * MAX_PIECES else found[:MAX_PIECES] + found[-MAX_PIECES:]:
        yield list(words), piped


def split(text: str, scope: ShellScope) -> Iterator[tuple[list[str], bool]]:
    """Split the text into commands."""
    words: list[str] = []
    parts: list[str] = []
    piped = False
    for token in TOKEN.finditer(text):
        kind, piece = token.lastgroup, token[0]
        if kind == "plain" or kind == "other":
            parts.append(piece)
        elif kind == "single":
            parts.append(piece[1:-1])
        elif kind == "double":
            parts.append(unescape_quoted(piece[1:-1]))
        elif kind == "escape":
            parts.append(piece[1:].strip("\n"))
        else:
            if parts:
                words.append("".join(parts))
                parts = []
            if kind != "blank":
                if words:
                    yield finish(words, scope), piped
                piped = kind == "separator" and piece == "|"
                words = []
    if parts:
        words.append("".join(parts))
    if words:
        yield finish(words, scope), piped


def finish(words: list[str], scope: ShellScope) -> list[str]:
    """Expand known variables, and remove keywords and comments."""
    made: list[str] = []
    for word in words[:MAX_WORDS]:
        if word.startswith("#"):
            break
        if word not in KEYWORDS or made:
            made.append(
                VARIABLE.sub(lambda found: scope.value(found[1] or found[2]) or found[0], word) if "$" in word else word
            )
    while made and is_assignment(made[0]):
        name, _, value = made.pop(0).partition("=")
        # One that doubles itself does so only up to this limit.
        scope.variables[name] = value[:MAX_VALUE]
    return made


def is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()
