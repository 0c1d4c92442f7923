"""Bounds: how much of a script is parsed, and how it is split so that no input takes long.

The parser is linear on scripts that it understands and quadratic on others, so it gets only a little code at a time: a
long script is parsed statement by statement, and a statement that is still too long is read roughly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...core import late_pattern
from .simple import SURELY_SHORT

MAX_CHARACTERS = 14_336
"""Characters parsed of one script; of a longer one, the beginning and the end."""

MAX_CODE = 1_200
"""Characters of code that the parser gets at once, without quoted text and heredocs: at worst tens of milliseconds."""

MAX_BROKEN = 2_400
"""Characters of code that the parser may fail on in one review; after that the rest is read roughly."""

MAX_NODES = 6_000
"""Syntax tree nodes visited per review, including nested scripts."""

MAX_DEPTH = 40
"""Nesting of statements, substitutions and wrappers."""

MAX_COMMANDS = 1_000
"""Commands kept per review."""

MAX_MORE = 200
"""Further commands that are kept, other than those that only print: padding must not hide what follows it."""

MAX_WRAPPERS = 24
"""Wrappers around one command."""

MAX_CALLS = 4
"""Recursive calls of a function."""

MAX_HEREDOCS = 32
"""Maximum number of heredocs; each one without an end is searched for to the end of the text."""

HEREDOC = late_pattern(r"<<-?[ \t]*(['\"]?)(\w+)\1[^\n]*\n(?:.*?\n)??[ \t]*\2[ \t]*(?=\n|\Z)", re.DOTALL)
DATA = late_pattern(r"'[^']*'|\"(?:[^\"\\`$]|\\.)*\"|(?:^|(?<=\s))#[^\n]*", re.DOTALL | re.MULTILINE)
TOKEN = late_pattern(
    r"(?P<data>'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|(?:^|(?<=\s))#[^\n]*)|(?P<end>[;\n]+)|(?P<open>[({])|(?P<close>[)}])|(?P<word>[^\s;(){}'\"\\#]+)",
    re.DOTALL | re.MULTILINE,
)
OPENS = frozenset(("if", "for", "while", "until", "case", "select"))
CLOSES = frozenset(("fi", "done", "esac"))


def cut(text: str) -> str:
    """The part of a script that is parsed."""
    if len(text) <= MAX_CHARACTERS:
        return text
    half = MAX_CHARACTERS // 2
    return f"{text[:half]}\n{text[-half:]}"


def is_short(text: str) -> bool:
    """Whether the parser may get the text at once."""
    return len(text) <= SURELY_SHORT or len(code_of(text)) <= MAX_CODE


def code_of(text: str) -> str:
    """The script with these removed: heredoc bodies, comments, quoted text that contains no expansion."""
    if "<<" in text and text.count("<<") <= MAX_HEREDOCS:
        text = HEREDOC.sub("<<_", text)
    return DATA.sub("_", text)


def statements(text: str) -> Iterator[str]:
    """The statements of a long script, split where a command ends outside brackets, quotes, loops and heredocs."""
    skip = [found.span() for found in HEREDOC.finditer(text)] if text.count("<<") <= MAX_HEREDOCS else []
    start = depth = position = 0
    while (token := TOKEN.search(text, position)) is not None:
        position = token.end()
        if skip and token.end() > skip[0][0]:
            position = max(position, skip[0][1])
            skip.pop(0)
            continue
        kind = token.lastgroup
        if kind == "word":
            depth += token[0] in OPENS
            depth -= token[0] in CLOSES
        elif kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        elif kind == "end" and depth <= 0:
            depth = 0
            yield text[start:position]
            start = position
    if start < len(text):
        yield text[start:]
