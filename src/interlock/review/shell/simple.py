"""Simple scripts: commands of plain and quoted words, joined by `&&` and `|`. Most are; they need no parser."""

from __future__ import annotations

import re

from ..wordlist import name_set
from .ascii import MARK

SURELY_SHORT = 400
"""Below this a script is not measured."""

_PLAIN = r"[\w./:=@%+,-]+"
_QUOTED = r"'[^'\x00-\x1f\x7f]+'|\"[^\"$`\\!\x00-\x1f\x7f]+\""
_COMMAND = rf"{_PLAIN}(?: (?:{_PLAIN}|{_QUOTED}))*"
SIMPLE = re.compile(rf"{_COMMAND}(?: && {_COMMAND})*(?: \| {_COMMAND})*\Z", re.ASCII)
"""Words in which the shell expands nothing; the parser has its own mind about `a | b && c`."""

TOKEN = re.compile(rf"{_QUOTED}|[^ ]+")

RESERVED = name_set(
    """if then else elif fi for while until do done case esac function select time in coproc export local declare
    readonly typeset unset"""
)

SimpleCommand = tuple[list[str], tuple[int, int]]
"""Its words, and where it stands."""


def read_simple(text: str) -> list[list[SimpleCommand]] | None:
    """The pipelines of a simple script; None if the parser has to read it."""
    if len(text) > SURELY_SHORT or SIMPLE.match(text) is None or not text.isascii() or MARK in text:
        return None
    pipelines: list[list[SimpleCommand]] = [[]]
    words: list[str] = []
    begin = end = 0
    for token in TOKEN.finditer(text):
        word = token[0]
        if word == "&&" or word == "|":
            pipelines[-1].append((words, (begin, end)))
            if word == "&&":
                pipelines.append([])
            words = []
        elif words:
            words.append(word[1:-1] if word[0] in "'\"" else word)
            end = token.end()
        elif word in RESERVED or "=" in word:
            return None
        else:
            words.append(word)
            begin, end = token.span()
    pipelines[-1].append((words, (begin, end)))
    return pipelines
