"""Secrets recognised by their name: settings, code, JSON, YAML, headers, and command-line options, word by word."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import re2

from .secret_names import LIKE_NAMES, NAMES, TAIL, kind_of_name

Span = tuple[int, int, str]
"""Start, end and kind of a secret in a text."""

MOST = 500
"""The most names checked in one text. More is an attempt to keep us busy: the rest is redacted."""

_CLOSING = r"(?:[\"'`\\]+\]?|\*+)?"
"""May come between a name and its sign: the name's closing quotes, a bracket, bold markup."""

_NAMED = rf"([A-Za-z0-9_.-]*(?:{NAMES})[0-9]*{TAIL})({_CLOSING}\s*(?::=|={{1,3}}>?|!={{1,2}}|:)\**[ \t]*)"
_OPTION = rf"(?:^|[\s\"'(\[,=])--?([a-z0-9-]*(?:{NAMES}){TAIL})([\"']?[ \t]*,?\s+)"
_PAIR = (
    rf"\b(?:name|key|field|label)[\"'\\]*\s*[:=]\s*[\"'\\]*([A-Za-z0-9_.-]*(?:{NAMES})[0-9]*{TAIL})"
    r"([\"'\\]*(?:,\s*|\s+)[\"'\\]*value[\"'\\]*\s*[:=][ \t]*)"
)

_SETTERS = r"(?-i:ENV)|setx|setenv|set[ \t]+-[a-z]*x[a-z]*|config:set|config(?:ure)?[ \t]+set"
_TOLD = (
    rf"(?:(?m:^)|\\n|[\s;&(\"'`])(?:{_SETTERS})[ \t]+(?:-\S+[ \t]+)*"
    rf"([A-Za-z0-9_.:/-]*(?:{NAMES})[0-9]*{TAIL})([ \t]+)"
)


def searchable(text: str) -> str | bytes:
    """The text to search: as bytes if offsets are the same, which is much cheaper."""
    return text.encode() if text.isascii() else text


class NamedSecrets:
    """One way to give a secret a name. `hint`, like NAMED_HINT, matches wherever a secret can be found."""

    def __init__(self, pattern: str, hint: str) -> None:
        self.hint = "(?i)" + hint
        self._source = "(?i)" + pattern

    @functools.cached_property
    def _pattern(self) -> Any:
        return re2.compile(self._source)

    def __call__(self, text: str) -> Iterator[Span]:
        """All secrets of this kind, in order."""
        from .secret_values import find_secret  # most programs end before they meet a secret's name

        count = done = 0
        for match in self._pattern.finditer(searchable(text)):
            start, (after_name, at) = match.start(1), match.span(2)
            kind = kind_of_name(text[start:after_name])
            if kind is None or start < done:
                continue
            count += 1
            if count > MOST:
                yield match.start(), len(text), "rest"
                return
            # The name may be a label that we inserted for a secret ourselves, or part of a type (Aws::Token).
            if text.endswith(("[redacted:", "::"), 0, start):
                continue
            if secret := find_secret(text, kind, (start, after_name) if self is SETTINGS else None, at):
                first, done = secret
                yield first, done, kind


_SET = rf"{_CLOSING}\s*(?:[:=]|!=)"
_OPTED = rf"-[a-z0-9-]*(?:{LIKE_NAMES}){TAIL}[\s\"',]"
_PAIRED = r"[\"'\\]*(?:,\s*|\s+)[\"'\\]*value[\"'\\]*\s*[:=]"

SETTINGS = NamedSecrets(_NAMED, "")
OPTIONS = NamedSecrets(_OPTION, _OPTED)
PAIRS = NamedSecrets(_PAIR, r"value[\"'\\]*\s*[:=]")
TOLD = NamedSecrets(_TOLD, rf"(?:{_SETTERS})[ \t]+\S")

NAMED_SECRETS = (SETTINGS, TOLD, OPTIONS, PAIRS)

NAMED_HINT = rf"(?i)(?:{LIKE_NAMES})[0-9]*{TAIL}(?:{_SET}|{_PAIRED})|{_OPTED}|(?:{_SETTERS})[ \t]+\S"
"""Matches wherever one of their hints does. Each repetition of the names makes a search slower to start."""


_SPECIAL = "\t\n\v\f\r\"'`|;&<>\\"
_HIDE = {ord(sign): chr(0xF0000 + ord(sign)) for sign in _SPECIAL}
_SHOW = {ord(hidden): chr(sign) for sign, hidden in _HIDE.items()}
"""These words have not passed through a shell: characters that are special to a shell are ordinary here."""

_OPTION_WORD = re.compile(r"-[A-Za-z](?=.)|--[\w-]+=|")


def redact_words(words: Sequence[str], redact: Callable[[str], str]) -> list[str]:
    """The words of a command without its secrets: first each word alone, then all together."""
    clean = [redact(word) for word in words]
    line = " ".join(map(_write, clean))
    redacted = redact(line)
    return clean if redacted == line else [word.translate(_SHOW) for word in _read(redacted)]


def _write(word: str) -> str:
    plain = word.translate(_HIDE)
    if plain and " " not in plain:
        return plain
    option = _OPTION_WORD.match(plain)
    start = option.end() if option else 0
    return f'{plain[:start]}"{plain[start:]}"'


def _read(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # a secret was redacted together with one of two quotes
        return line.split()
