"""Commands as lists of words: read as one line, since a word's meaning may depend on the one before."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence

_SPECIAL = "\t\n\v\f\r\"'`|;&<>\\"
_HIDE = {ord(sign): chr(0xF0000 + ord(sign)) for sign in _SPECIAL}
_SHOW = {ord(hidden): chr(sign) for sign, hidden in _HIDE.items()}
"""No shell has read these words: what would mean something to one is only a letter here."""

_OPTION = re.compile(r"-[A-Za-z](?=.)|--[\w-]+=|")


def redact_words(words: Sequence[str], redact: Callable[[str], str]) -> list[str]:
    """The words of a command without its secrets: each looked at alone, then all together."""
    clean = [redact(word) for word in words]
    line = " ".join(map(_write, clean))
    redacted = redact(line)
    return clean if redacted == line else [word.translate(_SHOW) for word in _read(redacted)]


def _write(word: str) -> str:
    plain = word.translate(_HIDE)
    if plain and " " not in plain:
        return plain
    option = _OPTION.match(plain)
    start = option.end() if option else 0
    return f'{plain[:start]}"{plain[start:]}"'


def _read(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # a secret went together with one of two quotes
        return line.split()
