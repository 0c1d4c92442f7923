"""Values next to names: where they begin and end, and how they are written."""

from __future__ import annotations

import re

from .secret_names import ValuePlace, is_likely, is_secret

LOOK = 128
"""How many characters of a value are judged, and how far to look back in a line: cost must be linear in the text."""

LONGEST = 8192
"""The most characters between two quotes, or of a block."""

Value = tuple[int, int, ValuePlace]
"""Start and end of a value, and how it is written."""

_OPENING = re.compile(r"[fFrRbBuU]{0,2}(\\*)([\"'`])")
_PLAIN = re.compile(r"[^\s\"'`,;&<>|(){}\[\]\\]+")
_RUN = re.compile(r"[^\s\"'`]+")
_REST_OF_LINE = re.compile(r"[^\s\"'`]+(?=[ \t]*(?:\r?\n|$))")
_ANNOTATION = re.compile(r"[A-Za-z_][\w.\[\], |]*[ \t]*=[ \t]*(?=[fFrRbBuU]{0,2}\\*[\"'`])")
_LINE_START = re.compile(r"[ \t]*(?:export[ \t]+|set[ \t]+|-[ \t]+|ENV[ \t]+|ARG[ \t]+)?")
_LINE_END = re.compile(r"[ \t]{0,40}(?:#|\r?\n|\\[rn]|$)")
_SECTION = re.compile(r"^\[[A-Za-z][\w .:-]*\]\s*$", re.MULTILINE)
_NEXT_LINE = re.compile(r"\r?\n\s*(?=[\"'])")
_KEY_SIGN = re.compile(r"\\*[\"'`][ \t]*:")

_BLOCK = re.compile(r"[|>][0-9+-]{0,2}(?:[ \t]*\r?\n)+([ \t]+)(\S+)[ \t]*(?:\r?\n\1[^\n]*)*")
"""A value that YAML has on separate lines below its name; several words would be a description."""

_HEADER_VALUE = re.compile(r"([^\s\"'`\\]+)\\*([\"']?)")
_HEADER_NAME = re.compile(r"[Xx]-[A-Za-z0-9-]+|[A-Z][A-Za-z]*(?:-[A-Z][A-Za-z]*)+")
_HEADER_OPTION = re.compile(r"\s(?:-H|--header)[ =]?[ \t]*\\*[\"']?$")

_OPTION_BEFORE = re.compile(r"(?:^|\s)--?[A-Za-z][\w-]*(?:[ \t]+|=)[\"']?(?:[^\s\"'()\[\]{}]*,)?$")
"""Name and value are one word of a command line after an option: -var name=value, --set a=b,name=value."""

_FIELDS_BEFORE = re.compile(r"(?:^|[\n;&|(\"'`])[ \t]*(?:https?|xhs?|vault)[ \t][^\n;&|()\"'`]*[ \t]$")
"""Name and value are one word of a command that takes such words: http POST url name=value."""

_OTHERS_BEFORE = re.compile(r"[\"'](?:\w+=[^\s\"'=]*[ \t]+)*$")
_OTHERS_AFTER = re.compile(r"(?:[ \t]+\w+=[^\s\"'=]*){0,9}[\"']")
"""Name and value are in quotes, alone or with others: 'host=db password=...'."""

_NO_VALUE = re.compile(
    r"(?i)--[a-z][\w-]*|to|flag|is|and|or|option|for|as|the|an?|from|with|in|if|when|argument|value|was|will|can|must|via|on|of|by|are"
)
"""Words that follow an option's name in a sentence about it; or another option."""


def find_secret(text: str, kind: str, name: tuple[int, int] | None, at: int) -> tuple[int, int] | None:
    """The position of the secret that starts here, if the value is one.

    `name` is the position of its name, followed by a sign; None if a command or a pair has just named its purpose.
    """
    value = _find_set(text, kind, *name, at) if name else _find_told(text, at)
    if value is None:
        return None
    first, last, place = value
    if not is_secret(kind, text[first : min(last, first + LOOK)].partition("\n")[0].rstrip(), place):
        return None
    if place not in ("quoted", "assigned") and last - first == LOOK and (rest := _RUN.match(text, last)):
        last = rest.end()
    return first, last


def _find_told(text: str, at: int) -> Value | None:
    if quoted := _quoted(text, at):
        return *quoted, "quoted"
    plain = _plain(text, at)
    if plain is None or _NO_VALUE.fullmatch(text, *plain):
        return None
    return *plain, "setting"


def _find_set(text: str, kind: str, start: int, after_name: int, at: int) -> Value | None:
    """The value that a sign (from `after_name`) assigns to a name (from `start`), if it starts at `at`."""
    name, sign = text[start:after_name], text[after_name:at]
    if ":" in sign:
        if typed := _ANNOTATION.match(text, at, at + LOOK):
            at, sign = typed.end(), " = "
        elif block := _BLOCK.match(text, at, at + LONGEST):
            return block.start(2), block.end(), "field"
        elif sign[0] in "\"'" and (gap := _NEXT_LINE.match(text, at, at + LOOK)):
            quoted = _quoted(text, gap.end())
            return None if quoted is None or _KEY_SIGN.match(text, quoted[1]) else (*quoted, "quoted")
    if quoted := _quoted(text, at):
        return *quoted, "assigned" if sign == "=" and name.isupper() and name != "PASS" else "quoted"
    if sign.strip() == ":" and (header := _header(text, kind, start, after_name, at)):
        return header
    line = text.rfind("\n", max(0, start - LOOK), start) + 1
    begins = (line > 0 or start < LOOK) and _LINE_START.fullmatch(text, line, start) is not None
    plain = _plain(text, at, whole_line=begins and sign == "=")
    if plain is None or (name.lower() == "pass" and sign != "=" and not is_likely(text[plain[0] : plain[1]], 8)):
        return None  # "pass: 12" is a count of tests, as likely as not
    if "=" in sign:
        alone = begins and _LINE_END.match(text, plain[1]) is not None
        return *plain, _place_after_equals(text, name, start, sign, alone, plain[1])
    if (_LINE_END.match(text, plain[1]) and not sign.endswith(":")) or (
        kind == "password" and text[plain[0] : plain[1]].isdigit()
    ):
        return *plain, "field"
    return (*plain, "code") if kind == "password" else None


def _quoted(text: str, at: int) -> tuple[int, int] | None:
    """The position of the content of the string that opens here."""
    opening = _OPENING.match(text, at)
    if opening is None:
        return None
    escape, quote = opening.groups()
    first = opening.end()
    last = text.find(escape + quote, first, first + LONGEST)
    while not escape and last > first and text[last - 1] == "\\":
        last = text.find(quote, last + 1, first + LONGEST)
    return (first, last) if last > first and "\n" not in text[first:last] else None


def _plain(text: str, at: int, whole_line: bool = False) -> tuple[int, int] | None:
    """The position of the unquoted value here; None for a call or an index, which is code."""
    plain = _PLAIN.match(text, at, at + LOOK)
    if plain is None or text[plain.end() : plain.end() + 1] in ("(", "[", "{"):
        return None
    if whole_line and (line := _REST_OF_LINE.match(text, at, at + LOOK)) and not line[0].endswith(","):
        return line.span()
    return plain.span()


def _header(text: str, kind: str, start: int, after_name: int, at: int) -> Value | None:
    """The value of a header in a command line: in quotes together with its name, or without a space."""
    value = _HEADER_VALUE.match(text, at, at + LONGEST)
    if value is None:
        return None
    if text.startswith("-H", start) or _HEADER_OPTION.search(text, max(0, start - 20), start):
        return *value.span(1), "setting"
    before = text[start - 1 : start]
    if value[2]:
        is_word = value[2] == before
    else:
        is_word = at == after_name + 1 and not before.strip() and _HEADER_NAME.fullmatch(text, start, after_name)
    return (*value.span(1), "code" if kind == "password" else "field") if is_word else None


def _place_after_equals(text: str, name: str, start: int, sign: str, alone: bool, end: int) -> ValuePlace:
    """How an unquoted value is written."""
    if sign.endswith((" ", "\t")):
        return "field" if alone and _SECTION.search(text, max(0, start - 2000), start) else "code"
    before = text[start - 1 : start]
    if alone or name.isupper() or name.startswith("-") or before in ("?", "&", ";"):
        return "setting"
    return "setting" if sign == "=" and _is_word_of_command(text, start, end) else "code"


def _is_word_of_command(text: str, start: int, end: int) -> bool:
    back = max(0, start - LOOK)
    if _OPTION_BEFORE.search(text, back, start) or _FIELDS_BEFORE.search(text, back, start):
        return True
    return (
        _OTHERS_BEFORE.search(text, back, start) is not None and _OTHERS_AFTER.match(text, end, end + LOOK) is not None
    )
