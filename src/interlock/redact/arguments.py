"""A call's arguments: converted to plain JSON, bounded, and searched quickly."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any

from .bounds import ONE_LINE, cut, mend

TEXT = 16 * 1024
"""The most characters of one text."""

TOTAL = 128 * 1024
"""The most characters of all keys and texts together; a number counts as eight."""

DEPTH = 16
ITEMS = 1000

LEAST, MOST = -(2**63), 2**64 - 1
"""Numbers that every JSON reader accepts; others (infinity, NaN) become text."""

NAMING = ("name", "key", "field", "label", "selector", "variable", "id", "Name", "Key", "NAME", "KEY", "ParameterKey")
"""Keys whose value may name the purpose of another value: {"name": "DB_PASSWORD", "value": ...}."""

NAMED = frozenset(("value", "text", "default", "Value", "VALUE", "ParameterValue"))

PROGRAM, WORDS = ("command", "cmd", "program"), "args"
"""Keys of a program and of its arguments: {"command": "mysql", "args": ["-p..."]}."""

REST = "[cut]"

MAX_ROW = 32
"""The most words of a list that may be alternating names and values."""


def gather(value: object, parts: list[str], depth: int = DEPTH) -> bool:
    """Collect all texts, keys before values; returns False if anything is too large or not plain JSON."""
    if depth == 0:
        return False
    if isinstance(value, dict):
        if len(value) > ITEMS:
            return False
        for key, item in value.items():
            if type(key) is not str:
                return False
            parts += (key, "=")
            if key[-1:] == "s" and isinstance(item, dict | list | tuple):
                parts += (key[:-1], "=")  # lets the search see a plural name (secrets) as a singular one
            if not _gather_item(item, parts, depth):
                return False
        if not NAMED.isdisjoint(value):
            # Lets the search see the name in front of the value, whatever their order.
            parts += [str(value[key]) + "\nvalue=" for key in NAMING if isinstance(value.get(key), str)]
        if WORDS in value:
            parts += map(" ".join, commands_in(value))
        return True
    if isinstance(value, list | tuple):
        if (
            len(value) > 1
            and type(value[0]) is str
            and len(value) <= ITEMS
            and all(type(item) is str for item in value)
        ):
            return _gather_words(value, parts)
        return len(value) <= ITEMS and all(_gather_item(item, parts, depth) for item in value)
    return False


def commands_in(value: dict[Any, Any]) -> list[list[str]]:
    """The command, if any, whose program and arguments are under two keys."""
    words = value.get(WORDS)
    if not isinstance(words, list | tuple) or not words or not all(isinstance(word, str) for word in words):
        return []
    return [[value[key], *words] for key in PROGRAM if isinstance(value.get(key), str)]


def make_plain(value: object, depth: int = DEPTH) -> object:
    """The value as plain JSON. Other values become text; what is nested too deeply is left out."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return (
            value
            if LEAST <= value <= MOST
            else f"{value:.6g}"
            if isinstance(value, float)
            else f"{value:#x}"[:ONE_LINE]
        )
    if isinstance(value, str):
        return mend(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, dict):
        if not depth:
            return REST
        # Excess items are left out before they are searched, which would only take time.
        plain = {mend(str(key)): make_plain(item, depth - 1) for key, item in islice(value.items(), ITEMS)}
        return plain if len(value) <= ITEMS else {**plain, REST: f"{len(value) - ITEMS} more"}
    if isinstance(value, list | tuple | set | frozenset):
        if not depth:
            return REST
        items = [make_plain(item, depth - 1) for item in islice(value, ITEMS)]
        return items if len(value) <= ITEMS else [*items, f"{REST} {len(value) - ITEMS} more"]
    import msgspec

    try:
        return make_plain(msgspec.to_builtins(value, enc_hook=_name_type), depth - 1) if depth else REST
    except RecursionError:
        return _name_type(value)


class ArgumentBudget:
    """Counts the size of arguments, and cuts what exceeds the limits."""

    def __init__(self, text: int = TEXT, total: int = TOTAL) -> None:
        self._text, self._left = text, total

    def fit(self, value: Any) -> Any:
        """The value, cut to the remaining budget."""
        if isinstance(value, str):
            text = cut(value, min(self._text, max(0, self._left)))
            self._left -= len(text)
            return text
        if isinstance(value, dict):
            return self._fit_dict(value)
        if isinstance(value, list):
            return self._fit_list(value)
        self._left -= 8
        return value

    def _fit_dict(self, value: dict[str, Any]) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for place, (key, item) in enumerate(value.items()):
            if key == REST:
                kept[key] = item
            elif place >= ITEMS or self._left <= 0:
                kept[REST] = f"{len(value) - place} more"
                break
            else:
                name = key if len(key) <= ONE_LINE else cut(key, ONE_LINE)
                self._left -= len(name)
                kept[name] = self.fit(item)
        return kept

    def _fit_list(self, value: list[Any]) -> list[Any]:
        kept: list[Any] = []
        for place, item in enumerate(value):
            if isinstance(item, str) and item.startswith(REST):
                kept.append(item[:ONE_LINE])
            elif place >= ITEMS or self._left <= 0:
                kept.append(f"{REST} {len(value) - place} more")
                break
            else:
                kept.append(self.fit(item))
        return kept


def _gather_item(item: object, parts: list[str], depth: int) -> bool:
    if isinstance(item, str):
        parts.append(item)
        return len(item) <= TEXT
    if isinstance(item, int | float):
        return LEAST <= item <= MOST
    return item is None or gather(item, parts, depth - 1)


def _gather_words(words: list[str] | tuple[str, ...], parts: list[str]) -> bool:
    """Lets the search see a command as one line, and a name next to its value."""
    parts.append(" ".join(words))
    if len(words) == 2:
        parts.append("=".join(words))
    elif len(words) <= MAX_ROW:
        parts += [f"{name}={value}" for name, value in pairwise(words) if name.isidentifier()]
    return max(map(len, words)) <= TEXT


def _name_type(value: object) -> str:
    return f"<{type(value).__name__}>"
