"""Command lines: the programs that a script runs, and whether its exit status is the status of each."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from ..core import late_pattern
from .command_words import unwrapped

READ = 4_000
"""Characters of a script that are read."""

_HEREDOC = late_pattern(r"<<-?\s*(['\"]?)(\w+)\1([^\n]*)\n.*?(?:\n[ \t]*\2(?=\s|$)|\Z)", re.DOTALL)
_TOKEN = late_pattern(
    r"""(?P<op>&&|\|\||\|&|[;|\n]|&(?![>\d]))|(?P<space>[^\S\n]+|\\\n)|(?P<comment>(?<![^\s;&|(])\#[^\n]*)"""
    r"""|(?P<word>(?:'[^']*'|"(?:\\.|[^"\\])*"|\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`|\\.|\d*>>?&?\d*|&>>?"""
    r"""|[^\s'"\\;&|`>]|[>&'"`\\])+)""",
    re.DOTALL,
)
_KEYWORDS = frozenset(("(", "{", "!", "do", "then", "else", "if", "elif", "while", "until", "time"))
_COMPOUND = frozenset(("for", "while", "until", "if", "case", "done", "fi", "esac", "do", "then", "else", "elif"))
_FAIL_FAST = late_pattern(r"\bset\s+-\w*e|\bset\s+-o\s+errexit")
_PIPEFAIL = late_pattern(r"\bpipefail\b")


_SPECIAL = re.compile(r"[\n'\"\\;&|`$(){}<>#]")
"""What a single command of plain words does not have."""


class ProgramRun(Struct, frozen=True):
    """One program of a script: its words without wrappers; `shows` says that the script's exit status is its own.

    `text` is as it is in the script; `piped` are the programs that its output goes through.
    """

    words: tuple[str, ...]
    text: str
    shows: bool
    piped: tuple[str, ...] = ()


@lru_cache(64)
def read_programs(script: str) -> tuple[ProgramRun, ...]:
    """The programs of a script in order, as far as they are in the line itself."""
    text = script[:READ]
    if _SPECIAL.search(text) is None:
        words = text.split()
        plain = unwrapped([word for word in words if word not in _KEYWORDS])
        return (ProgramRun(tuple(plain), " ".join(words), words[0] not in _COMPOUND),) if plain else ()
    if "<<" in text:
        text = _HEREDOC.sub(lambda found: found[3], text)
    statements, operators = _statements(text)
    pipefail = "pipefail" in text and _PIPEFAIL.search(text) is not None
    fail_fast = "set" in text and _FAIL_FAST.search(text) is not None
    redirects = ">" in text or "<" in text
    compound = any(words[:1] and words[0] in _COMPOUND for pipeline in statements for words in pipeline)
    found: list[ProgramRun] = []
    for at, pipeline in enumerate(statements):
        after = [each for each in operators[at:] if each]
        # `a && b` is 0 only if both are; `a; b` says nothing of a, and `a || b` of neither.
        certain = not compound and operators[max(0, at - 1) : at] != ["||"]
        reaches = certain and all(each == "&&" or (fail_fast and each in (";", "\n")) for each in after)
        for place, words in enumerate(pipeline):
            last = place == len(pipeline) - 1
            plain = unwrapped([_unquoted(word) for word in words if word not in _KEYWORDS])
            if redirects:
                plain = [word for word in plain if not _REDIRECT.match(word)]
            if plain:
                piped = tuple(_unquoted(later[0]) for later in pipeline[place + 1 :] if later)
                shows = reaches and (last or pipefail)
                found.append(ProgramRun(tuple(plain), " ".join(words).strip("(){} "), shows, piped))
    return tuple(found)


_REDIRECT = late_pattern(r"\d*(?:>>?|<)|&>")


def _statements(text: str) -> tuple[list[list[list[str]]], list[str]]:
    """Statements, each a pipeline of lists of words, and the operator after each."""
    statements: list[list[list[str]]] = []
    operators: list[str] = []
    pipeline: list[list[str]] = [[]]
    for operator, _, _, word in _TOKEN.findall(text):
        if word:
            pipeline[-1] += _opened(word)
        elif operator:
            if operator in ("|", "|&"):
                pipeline.append([])
            elif pipeline != [[]]:
                statements.append(pipeline)
                operators.append(operator)
                pipeline = [[]]
            elif operators and operator != "\n":
                operators[-1] = operator
    if pipeline != [[]]:
        statements.append(pipeline)
        operators.append("")
    elif operators:
        operators[-1] = operators[-1] if operators[-1] not in (";", "\n") else ""
    return statements, operators


def _opened(word: str) -> list[str]:
    """A word without the parentheses of a subshell."""
    if word[0] == "(" and len(word) > 1:
        word = word[1:]
    if word[-1] == ")" and "(" not in word:
        word = word[:-1]
    return [word] if word else []


def _unquoted(word: str) -> str:
    if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"":
        return word[1:-1]
    return word
