"""Redaction: removes secrets from texts and JSON values, in linear time."""

from __future__ import annotations

import base64
import binascii
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import re2

from ..core import span_search
from .arguments import NAMED, NAMING, WORDS, commands_in
from .assignments import NAMED_HINT, NAMED_SECRETS, Span, redact_words, searchable
from .bounds import mend
from .secret_names import (
    LONGEST_NAME,
    ValuePlace,
    is_likely,
    is_secret,
    is_secret_in_container,
    kind_of_container,
    kind_of_name,
)
from .secret_shapes import FAMILIES, Shape

PASSES = 5
"""Maximum number of passes: rarely, the result of one pass looks like a secret to the next."""

SET_MEMORY = 64 * 1024 * 1024

_COMMAND = re.compile(rf"[\w./~+:@-]{{1,{LONGEST_NAME}}}")
"""The first word of a command."""

_KEY_MATERIAL = re.compile(r"[A-Za-z0-9+/=]{12}")

Find = Callable[[str], Iterable[Span]]

HEADERS = {
    "authorization": "authorization",
    "proxy-authorization": "authorization",
    "cookie": "cookie",
    "set-cookie": "cookie",
}
"""Headers whose values are secrets."""


def redact_text(text: str) -> str:
    """The text with every secret replaced by `[redacted:KIND]`."""
    return redactor().redact(text)


def redact_tree(value: object) -> object:
    """A JSON value with every secret replaced: in texts, in keys, and under names that denote secrets."""
    return redactor().redact_value(value)


def redact_argv(words: Sequence[str]) -> list[str]:
    """A command's words with every secret replaced."""
    return redact_words(words, redactor().redact)


@functools.cache
def redactor() -> Redactor:
    """The redactor of this process, created on first use."""
    return Redactor()


class Redactor:
    """All rules, created on first use, and one cheap check that says which of them are worth trying."""

    def __init__(self) -> None:
        self._families = [
            *(_family(family) for family in FAMILIES),
            _Family(NAMED_HINT, [named.hint for named in NAMED_SECRETS], list(NAMED_SECRETS)),
        ]
        # One combined pattern is searched much faster than a set that reports which ones match; patterns with a
        # common prefix share it if they are adjacent.
        shapes = sorted(shape.hint for family in FAMILIES for shape in family)
        # Unlike a set, a pattern still matches if the search runs out of memory: a slower search takes over.
        self._any = span_search(re2.compile(_one_of((*shapes, NAMED_HINT)), _options()))

    @functools.cached_property
    def _which(self) -> Any:
        # The last pattern always matches: a result without it means that the search itself failed.
        return _search_set([*(family.any_of for family in self._families), ""])

    def suspects(self, text: bytes) -> bool:
        """Whether a text, in UTF-8, may contain a secret: cheap, and False for most texts."""
        return self._any(text, 0)[0] >= 0

    def redact(self, text: str) -> str:
        """The text without secrets."""
        for _ in range(PASSES):
            try:
                rules = self._candidates(text.encode())
            except UnicodeEncodeError:
                text = mend(text)
                continue
            before = text
            for rule in rules:
                text = _replace(text, rule(text))
            if text == before:
                break
        return text

    def redact_value(self, value: object) -> object:
        """A JSON value without secrets."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, dict):
            return self._redact_dict(value)
        if isinstance(value, list | tuple):
            return self._redact_list(value)
        return value

    def _redact_dict(self, value: dict[Any, Any], about: str | None = None) -> dict[Any, Any]:
        """`about` is the kind of the name under which the dictionary itself is stored."""
        about = next(filter(None, (_kind_of_named(value.get(key)) for key in NAMING)), about)
        for command in commands_in(value):
            value = {**value, WORDS: self._redact_words(command)[1:]}
        clean: dict[Any, Any] = {}
        for key, item in value.items():
            name = self.redact(key) if isinstance(key, str) else key
            clean[name] = self._redact_item(key, item, about)
        return clean

    def _redact_item(self, key: object, item: object, about: str | None) -> object:
        if not isinstance(key, str):
            return self.redact_value(item)
        if isinstance(item, dict | list | tuple) and (kind := kind_of_container(key)):
            item = self._redact_contained(kind, "", item)
        kind = kind_of_name(key) or HEADERS.get(key.lower()) or (about if key in NAMED else None)
        return self._redact_named(kind, item) if kind else self.redact_value(item)

    def _redact_contained(self, kind: str, name: str, item: object) -> object:
        if isinstance(item, str):
            return _label(kind) if is_secret_in_container(kind, name, item) else item
        if isinstance(item, dict):
            return {key: self._redact_contained(kind, str(key), each) for key, each in item.items()}
        if isinstance(item, list | tuple):
            return [self._redact_contained(kind, name, each) for each in item]
        return item

    def _redact_list(self, value: list[Any] | tuple[Any, ...]) -> list[Any]:
        are_words = len(value) > 1 and all(isinstance(item, str) for item in value)
        clean = self._redact_words(value) if are_words else [self.redact_value(item) for item in value]
        for at, word in enumerate(clean[:-1], 1):
            if not isinstance(word, str) or len(word) > LONGEST_NAME or not (kind := kind_of_name(word.lstrip("-"))):
                continue
            after = clean[at]
            if word.startswith("-"):
                clean[at] = self._redact_named(kind, after)
            elif isinstance(after, str) and is_likely(after, 6):
                # Alternating names and values in one list: ["user", "me", "password", ...].
                clean[at] = _label(kind)
        return clean

    def _redact_words(self, words: Sequence[str]) -> list[Any]:
        """Redact a name with its value, a command, or just texts."""
        if len(words) == 2 and (kind := kind_of_name(words[0]) or HEADERS.get(words[0].lower())):
            place: ValuePlace = "code" if kind == "password" else "field"
            judged = "token" if kind in HEADERS.values() else kind
            if is_secret(judged, words[1].rpartition(" ")[2], place):
                return [words[0], _label(kind)]
        return redact_words(words, self.redact) if _COMMAND.fullmatch(words[0]) else [*map(self.redact, words)]

    def _redact_named(self, kind: str, item: object) -> object:
        if isinstance(item, str) and is_secret(kind, item, "quoted"):
            return item if item.startswith("[redacted:") else _label(kind)
        if kind == "password" and isinstance(item, int | float) and not isinstance(item, bool):
            return _label(kind)
        if isinstance(item, dict):
            return self._redact_dict(item, kind)
        if isinstance(item, list | tuple):
            return [self._redact_named(kind, each) for each in item]
        return self.redact_value(item)

    def _candidates(self, text: bytes) -> list[Find]:
        if not self.suspects(text):
            return []
        hits = self._which.Match(text)
        families = [self._families[hit] for hit in sorted(hits)[:-1]] if hits else self._families
        return [rule for family in families for rule in family.worth(text)]


class _Family:
    """Rules of one kind. A single set of all rules would have too many combinations of partial matches.

    `any_of` matches wherever one of them may find something; each of `hints` then tells whether its rule may.
    """

    def __init__(self, any_of: str, hints: list[str], rules: list[Find]) -> None:
        self.any_of, self._hints, self._rules = any_of, hints, rules

    @functools.cached_property
    def _each(self) -> Any:
        return _search_set([*self._hints, ""])

    def worth(self, text: bytes) -> list[Find]:
        """The rules that are worth trying, in order."""
        hits = self._each.Match(text)
        return [self._rules[hit] for hit in sorted(hits)[:-1]] if hits else self._rules


def _family(shapes: Sequence[Shape]) -> _Family:
    hints = [shape.hint for shape in shapes]
    return _Family(_one_of(hints), hints, list(map(_finder, shapes)))


def _one_of(patterns: Iterable[str]) -> str:
    return "|".join(f"(?:{pattern})" for pattern in patterns)


def _search_set(patterns: list[str]) -> Any:
    made = re2.Set.SearchSet(_options())
    for pattern in patterns:
        made.Add(pattern)
    made.Compile()
    return made


def _options() -> Any:
    options = re2.Options()
    options.max_mem = SET_MEMORY
    options.never_capture = True
    options.log_errors = False
    return options


def _finder(shape: Shape) -> Find:
    check = CHECKS.get(shape.kind, _anything)

    @functools.cache
    def compiled() -> Any:
        return re2.compile(shape.pattern)

    def find(text: str) -> Iterator[Span]:
        pattern = compiled()
        groups = range(1, pattern.groups + 1)
        for match in pattern.finditer(searchable(text)):
            start, end = next((match.span(group) for group in groups if match.start(group) >= 0), match.span())
            value = text[start:end]
            if check(value) and (not shape.mixed or is_likely(value, shape.mixed)):
                yield start, end, shape.kind

    return find


def _replace(text: str, spans: Iterable[Span]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end, kind in spans:
        pieces += (text[at:start], _label(kind))
        at = end
    return "".join((*pieces, text[at:])) if pieces else text


def _kind_of_named(name: object) -> str | None:
    """The kind of a value whose purpose is named next to it."""
    if not isinstance(name, str) or len(name) > LONGEST_NAME or "[redacted:" in name:
        return None
    return kind_of_name(name.rstrip("'\"])}> "))


def _label(kind: str) -> str:
    return f"[redacted:{kind}]"


def _anything(_: str) -> bool:
    return True


def _is_basic(value: str) -> bool:
    """Whether this is base64 of `user:password`, and not a word after the word basic."""
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in plain and plain.isascii()


CHECKS: dict[str, Callable[[str], bool]] = {
    "authorization": lambda value: is_secret("token", value, "quoted") or _is_basic(value),
    "basic": _is_basic,
    "password": lambda value: is_secret("password", value, "quoted"),
    "private_key": lambda value: _KEY_MATERIAL.search(value) is not None,
}
"""Additional checks for shapes that ordinary words can have, too."""
