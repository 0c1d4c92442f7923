"""Secrets that their name gives away: settings, code, JSON, YAML, headers, options of commands."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

import re2

from .secret_names import LIKE_NAMES, NAMES, Place, is_secret, kind_of_name

Span = tuple[int, int, str]
"""Start, end and kind of a secret in a text."""

LOOK = 128
"""Characters of a value that are judged, and of a line that are looked back: no text may cost more than its length."""

LONGEST = 8192
"""Characters between two quotes."""

MOST = 2000
"""Names looked at in one text. Whoever writes more wants to keep us busy: the rest goes unread."""

_CLOSING = r"(?:[\"'`\\]+\]?|\*+)?"
"""What may stand between a name and its sign: the name's own quotes, a bracket, bold type."""

_NAMED = rf"([A-Za-z0-9_.-]*(?:{NAMES})[0-9]*)({_CLOSING}\s*(?::=|={{1,3}}>?|!={{1,2}}|:)\**[ \t]*)"
_OPTION = rf"(?:^|[\s\"'(\[,=])--?([a-z0-9-]*(?:{NAMES}))([\"']?[ \t]*,?\s+)"
_PAIR = (
    rf"\b(?:name|key|field|label)[\"'\\]*\s*[:=]\s*[\"'\\]*([A-Za-z0-9_.-]*(?:{NAMES}))"
    r"([\"'\\]*,?\s+[\"'\\]*value[\"'\\]*\s*[:=][ \t]*)"
)

_OPENING = re.compile(r"[fFrRbBuU]{0,2}(\\*)([\"'`])")
_PLAIN = re.compile(r"[^\s\"'`,;&<>|(){}\[\]\\]+")
_RUN = re.compile(r"[^\s\"'`]+")
_REST_OF_LINE = re.compile(r"[^\s\"'`]+(?=[ \t]*(?:\r?\n|$))")
_ANNOTATION = re.compile(r"[A-Za-z_][\w.\[\], |]*[ \t]*=[ \t]*(?=[\"'fFrRbBuU])")
_LINE_START = re.compile(r"[ \t]*(?:export[ \t]+|set[ \t]+|-[ \t]+|ENV[ \t]+|ARG[ \t]+)?")
_LINE_END = re.compile(r"[ \t]{0,40}(?:#|\r?\n|$)")
_SECTION = re.compile(r"^\[[A-Za-z][\w .:-]*\]\s*$", re.MULTILINE)
_ORDINARY = re.compile(
    r"(?i)to|flag|is|and|or|option|for|as|the|an?|from|with|in|if|when|argument|value|was|will|can|must|via|on|of|by|are"
)
"""Words that follow an option's name in a sentence about it."""


def searchable(text: str) -> str | bytes:
    """What to search: as bytes, if places in both are the same, it costs a fraction."""
    return text.encode() if text.isascii() else text


class NamedSecrets:
    """One way of giving a secret its name. `hint` matches, where NAMED_HINT does, wherever something can be found."""

    def __init__(self, pattern: str, hint: str) -> None:
        self.hint = "(?i)" + hint
        self._source = "(?i)" + pattern

    @functools.cached_property
    def _pattern(self) -> Any:
        return re2.compile(self._source)

    def __call__(self, text: str) -> Iterator[Span]:
        """Every secret of this kind, in order."""
        for count, match in enumerate(self._pattern.finditer(searchable(text))):
            if count == MOST:
                yield match.start(), len(text), "rest"
                return
            start, (after_name, at) = match.start(1), match.span(2)
            kind = kind_of_name(text[start:after_name])
            # The name may be the label that we put in a secret's place ourselves, or a type's (Aws::Token).
            if kind is not None and not text.endswith(("[redacted:", "::"), 0, start):
                value = self._find_value(text, kind, start, after_name, at)
                if value and is_secret(kind, text[value[0] : min(value[1], value[0] + LOOK)], value[2]):
                    first, last, place = value
                    if place != "quoted" and last - first == LOOK and (rest := _RUN.match(text, last)):
                        last = rest.end()
                    yield first, last, kind

    def _find_value(self, text: str, kind: str, start: int, after_name: int, at: int) -> tuple[int, int, Place] | None:
        sign = text[after_name:at]
        if ":" in sign and (typed := _ANNOTATION.match(text, at, at + LOOK)):
            at, sign = typed.end(), " = "
        if quoted := _quoted(text, at):
            return *quoted, "quoted"
        line = text.rfind("\n", max(0, start - LOOK), start) + 1
        begins = (line > 0 or start < LOOK) and _LINE_START.fullmatch(text, line, start) is not None
        plain = _plain(text, at, whole_line=begins and sign == "=")
        if plain is None:
            return None
        if self is OPTIONS or self is PAIRS:
            return None if _ORDINARY.fullmatch(text, *plain) else (*plain, "setting")
        if text[start:after_name].lower() == "pass" and sign != "=":
            return None  # a count of tests, as likely as not
        if "=" in sign:
            return *plain, _place_after_equals(text, start, after_name, sign, begins, plain[1])
        if (_LINE_END.match(text, plain[1]) and not sign.endswith(":")) or (
            kind == "password" and text[plain[0] : plain[1]].isdigit()
        ):
            return *plain, "field"
        return (*plain, "code") if kind == "password" else None


def _quoted(text: str, at: int) -> tuple[int, int] | None:
    """Where the content of the string lies that opens here."""
    opening = _OPENING.match(text, at)
    if opening is None:
        return None
    escape, quote = opening.groups()
    first = opening.end()
    last = text.find(escape + quote, first, first + LONGEST)
    while not escape and last > first and text[last - 1] == "\\":
        last = text.find(quote, last + 1, first + LONGEST)
    return (first, last) if last > first and "\n" not in text[first:last] else None


def _plain(text: str, at: int, whole_line: bool) -> tuple[int, int] | None:
    """Where the value lies that stands here without quotes; none for a call or an index, which is code."""
    plain = _PLAIN.match(text, at, at + LOOK)
    if plain is None or text[plain.end() : plain.end() + 1] in ("(", "[", "{"):
        return None
    if whole_line and (line := _REST_OF_LINE.match(text, at, at + LOOK)) and not line[0].endswith(","):
        return line.span()
    return plain.span()


def _place_after_equals(text: str, start: int, after_name: int, sign: str, begins: bool, end: int) -> Place:
    """How a value without quotes is written."""
    alone = begins and _LINE_END.match(text, end) is not None
    if sign.endswith((" ", "\t")):
        return "field" if alone and _SECTION.search(text, max(0, start - 2000), start) else "code"
    name, before = text[start:after_name], text[start - 1 : start]
    return "setting" if alone or name.isupper() or name.startswith("-") or before in ("?", "&", ";") else "code"


_SET = rf"[0-9]*{_CLOSING}\s*(?:[:=]|!=)"
_OPTED = rf"-[a-z0-9-]*(?:{LIKE_NAMES})[\s\"',]"
_PAIRED = r"[\"'\\]*,?\s+[\"'\\]*value[\"'\\]*\s*[:=]"

SETTINGS = NamedSecrets(_NAMED, "")
OPTIONS = NamedSecrets(_OPTION, _OPTED)
PAIRS = NamedSecrets(_PAIR, r"value[\"'\\]*\s*[:=]")

NAMED_SECRETS = (SETTINGS, OPTIONS, PAIRS)

NAMED_HINT = rf"(?i)(?:{LIKE_NAMES})(?:{_SET}|{_PAIRED})|{_OPTED}"
"""Matches where one of their hints does. Each time that the names stand in it, a search takes longer to get going."""
