"""Simple scripts: plain and quoted words, joined by `&&`, `||` and `|`, in letters that the parser can be trusted with."""

from __future__ import annotations

import re

from ..wordlist import name_set
from .model import Redirect

SURELY_SHORT = 400
"""Below this a script is not measured."""

_PLAIN = r"[\w./:=@%+,-]+"
_LETTER = r"[^\"$`\\!\x00-\x1f\x7f]"
_QUOTED = rf"'[^'\x00-\x1f\x7f]+'|\"(?:{_LETTER}++|\\{_LETTER})++\""
_WORD = r"(?:[\w./:=@%+,*?-]++|\{\})++|\\[;()]"
_COMMAND = rf"{_PLAIN}(?: (?:{_WORD}|{_QUOTED}))*"
SIMPLE = re.compile(rf"{_COMMAND}(?: (?:&&|\|\|) {_COMMAND})*(?: 2>(?:&1|/dev/null))?(?: \| {_COMMAND})*\Z", re.ASCII)
"""Words in which the shell expands nothing but names of files; the parser has its own mind about `a | b && c` and
`a | b 2>&1`."""

TOKEN = re.compile(rf"{_QUOTED}|[^ ]+")
ERRORS = {"2>&1": (Redirect(">&", "1"),), "2>/dev/null": (Redirect(">", "/dev/null"),)}

RESERVED = name_set(
    """if then else elif fi for while until do done case esac function select time in coproc export local declare
    readonly typeset unset"""
)

SimpleCommand = tuple[list[str], tuple[int, int]]
"""Its words, and where it stands."""

SimpleScript = tuple[list[SimpleCommand], bool, tuple[Redirect, ...], list[SimpleCommand]]
"""Commands one after the other, whether some run only where others fail, where their errors go, and the commands that
their output goes through."""


def read_simple(text: str) -> SimpleScript | None:
    """The commands of a simple script; None if the parser has to read it."""
    if len(text) > SURELY_SHORT or SIMPLE.match(text) is None or not text.isascii() or MARK in text:
        return None
    listed: list[SimpleCommand] = []
    piped: list[SimpleCommand] = []
    errors: tuple[Redirect, ...] = ()
    words: list[str] = []
    begin = end = 0
    into = listed
    either = False
    for token in TOKEN.finditer(text):
        word = token[0]
        if word == "&&" or word == "|" or word == "||":
            into.append((words, (begin, end)))
            into = piped if word == "|" else listed
            either = either or word == "||"
            words = []
        elif word in ERRORS:
            if words[-1] == "-":
                return None  # which the parser loses here
            errors = ERRORS[word]
        elif words:
            if "||" in word:
                return None  # which counts for the parser even in quotes
            words.append(word[1:-1] if word[0] in "'\"" else word[1:] if word[0] == "\\" else word)
            end = token.end()
        elif word in RESERVED or "=" in word:
            return None
        else:
            words.append(word)
            begin, end = token.span()
    into.append((words, (begin, end)))
    return listed, either, errors, piped


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
