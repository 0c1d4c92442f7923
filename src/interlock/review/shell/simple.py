"""Simple scripts: plain and quoted ASCII words joined by `&&`, `||`, `|`, which do not need the parser."""

from __future__ import annotations

import re

from ..wordlist import name_set
from .model import Redirect

SURELY_SHORT = 400
"""Shorter scripts are not measured."""

_PLAIN = r"[\w./:=@%+,-]+"
_LETTER = r"[^\"$`\\!\x00-\x1f\x7f]"
_QUOTED = rf"'[^'\x00-\x1f\x7f]+'|\"(?:{_LETTER}++|\\{_LETTER})++\""
_WORD = r"(?:[\w./:=@%+,*?-]++|\{\})++|\\[;()]"
_COMMAND = rf"{_PLAIN}(?: (?:{_WORD}|{_QUOTED}))*"
_REDIRECTS = r"(?: >>? ?[\w./:@%+,-]+)?(?: 2>(?:&1|/dev/null))?"
SIMPLE = re.compile(rf"{_COMMAND}(?: (?:&&|\|\|) {_COMMAND})*{_REDIRECTS}(?: \| {_COMMAND})*\Z", re.ASCII)
"""Words in which the shell expands only file names; the parser treats `a | b && c` and `a | b 2>&1` in its own way."""

TOKEN = re.compile(rf"{_QUOTED}|>>? ?[^ ]+|[^ ]+")
ERRORS = {"2>&1": Redirect(">&", "1"), "2>/dev/null": Redirect(">", "/dev/null")}
NAMED = re.compile(r"[\w./-]+\Z", re.ASCII)
ASSIGNED = re.compile(r"([A-Za-z_]\w*)=([\w./:@%+,-]*)\Z", re.ASCII)

RESERVED = name_set(
    """if then else elif fi for while until do done case esac function select time in coproc export local declare
    readonly typeset unset"""
)

SimpleCommand = tuple[list[str], tuple[int, int], list[tuple[str, str]]]
"""Its words, its position, and the variables that are set for it."""

SimpleScript = tuple[list[SimpleCommand], bool, tuple[Redirect, ...], list[SimpleCommand]]
"""Consecutive commands, whether some run only if others fail, where their output goes, and the commands that it is
piped through."""


def read_simple(text: str) -> SimpleScript | None:
    """The commands of a simple script; None if it needs the parser."""
    if len(text) > SURELY_SHORT or SIMPLE.match(text) is None or not text.isascii() or MARK in text:
        return None
    listed: list[SimpleCommand] = []
    piped: list[SimpleCommand] = []
    redirects: tuple[Redirect, ...] = ()
    words: list[str] = []
    assigned: list[tuple[str, str]] = []
    begin = end = 0
    into = listed
    either = False
    for token in TOKEN.finditer(text):
        word = token[0]
        if word == "&&" or word == "|" or word == "||":
            if not words:
                return None
            into.append((words, (begin, end), assigned))
            into = piped if word == "|" else listed
            either = either or word == "||"
            words, assigned = [], []
        elif word in ERRORS or word[0] == ">":
            if not words or words[-1] == "-":
                return None  # the parser drops it here
            redirects += (ERRORS.get(word) or Redirect(">>" if word[1] == ">" else ">", word.lstrip("> ")),)
        elif words:
            if "||" in word:
                return None  # the parser treats it as an operator even in quotes
            words.append(word[1:-1] if word[0] in "'\"" else word[1:] if word[0] == "\\" else word)
            end = token.end()
        elif word in RESERVED:
            return None
        else:
            begin = begin if assigned else token.start()
            if "=" not in word:
                if assigned and NAMED.match(word) is None:
                    return None  # the parser treats other names differently here
                words.append(word)
                end = token.end()
            elif (found := ASSIGNED.match(word)) is not None:
                assigned.append((found[1], found[2]))
            else:
                return None
    if not words:
        return None
    into.append((words, (begin, end), assigned))
    return listed, either, redirects, piped


FOREIGN = re.compile(r"[^\x01-\x7f]|%(?=@)")
MARKED = re.compile(r"%@([0-9a-f]{1,6})@%")
MARK = "%@"
LAST = 0x10FFFF


def to_ascii(text: str) -> str:
    """The text with non-ASCII characters and lookalikes of the mark encoded; a NUL becomes a space."""
    if text.isascii() and "\0" not in text and MARK not in text:
        return text
    return FOREIGN.sub(lambda found: " " if found[0] == "\0" else f"{MARK}{ord(found[0]):x}@%", text)


def from_ascii(text: str) -> str:
    """The original text, with encoded characters decoded."""
    return MARKED.sub(letter, text) if MARK in text else text


def letter(found: re.Match[str]) -> str:
    point = int(found[1], 16)
    return chr(point) if point <= LAST and not 0xD800 <= point < 0xE000 else found[0]
