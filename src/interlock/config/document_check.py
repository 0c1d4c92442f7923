"""Checks a document against the configuration's types: returns plain values, and collects problems."""

from __future__ import annotations

import math
from collections.abc import Callable

from msgspec import inspect
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from .document import is_text, line_of, value_of
from .key_types import Key, join, keys_of, unwrap, without_none
from .problem import ConfigProblem, describe_unknown_key, nearest

ALIASES = {"intervention": "gui"}
"""Top-level keys that are accepted as another one."""

WRONG = object()
"""Stands for a value with a problem, which was reported."""


class DocumentCheck:
    """Checks one source; collects every problem and the line of every value.

    `secret`: never repeat a value, as environment variables contain keys and errors end up in logs.
    """

    def __init__(self, source: str, *, secret: bool = False) -> None:
        self.source = source
        self._secret = secret
        self.problems: list[ConfigProblem] = []
        self.lines: dict[str, int] = {}

    def section(self, node: Node | None, section: inspect.StructType, path: str) -> dict[str, object]:
        """The keys that are set in a section, with their plain values."""
        if node is None or _is_null(node):
            return {}
        keys = keys_of(section)
        if isinstance(node, ScalarNode) and "enabled" in keys and isinstance(value_of(node), bool):
            self.lines[join(path, "enabled")] = line_of(node)
            return {"enabled": value_of(node)}
        if not isinstance(node, MappingNode):
            also = ", or true or false" if "enabled" in keys else ""
            self._report(node, path, f"expected keys and values{also}, not {self._describe(node)}")
            return {}
        found: dict[str, object] = {}
        seen: set[str] = set()
        for name, key_node, value_node in self._entries(node, path):
            real = ALIASES.get(name, name) if not path else name
            here = join(path, name)
            if real not in keys:
                what, todo = describe_unknown_key(name, path, section)
                self._report(key_node, here, what, todo)
            elif real in seen:
                self._report(key_node, here, f"{' and '.join(_names(real))} are the same section", "Keep one of them.")
            else:
                seen.add(real)
                value = self.value(value_node, keys[real].kind, join(path, real), keys[real])
                if value is not WRONG:
                    found[real] = value
        for key in keys.values():
            if (
                key.required
                and key.name not in found
                and not any(p.path == join(path, key.name) for p in self.problems)
            ):
                self._report(node, path, f"has no {key.name}", f"Add {key.name}.")
        return found

    def value(self, node: Node, kind: inspect.Type, path: str, key: Key) -> object:
        """The plain value of a node, or WRONG after saying why."""
        inner, nullable = without_none(unwrap(kind)[0])
        if isinstance(inner, inspect.StructType):
            before = len(self.problems)
            found = self.section(node, inner, path)
            return WRONG if len(self.problems) > before and not found else found
        self.lines[path] = line_of(node)
        if _is_null(node):
            return self._null(node, inner, nullable, path, key)
        if isinstance(inner, inspect.DictType):
            return self._mapping(node, inner, path, key)
        if isinstance(inner, (inspect.VarTupleType, inspect.ListType)):
            return self._list(node, inner, path, key)
        if isinstance(node, ScalarNode):
            # 1e3 is a number to us and text to YAML, off is false to YAML: use whichever the key expects.
            off = "off" if value_of(node) is False and key.choices else WRONG
            for value in (value_of(node), node.value if is_text(node) else WRONG, off):
                if fits(value, inner, key):
                    return value
        instead = "" if self._secret else _instead(node, inner, key)
        self._report(node, path, f"expected {expected(inner, key)}, not {self._describe(node)}", instead)
        return WRONG

    def _null(self, node: Node, inner: inspect.Type, nullable: bool, path: str, key: Key) -> object:
        if nullable:
            return None
        if isinstance(inner, (inspect.DictType, inspect.VarTupleType, inspect.ListType)):
            return key.default
        self._report(
            node, path, f"expected {expected(inner, key)}, but found nothing", "Add a value or remove the key."
        )
        return WRONG

    def _mapping(self, node: Node, kind: inspect.DictType, path: str, key: Key) -> object:
        if not isinstance(node, MappingNode):
            self._report(node, path, f"expected names and values, not {self._describe(node)}")
            return WRONG
        entries = self._entries(node, path)
        found = {name: self.value(value, kind.value_type, join(path, name), key) for name, _, value in entries}
        return WRONG if WRONG in found.values() else found

    def _list(self, node: Node, kind: inspect.VarTupleType | inspect.ListType, path: str, key: Key) -> object:
        if not isinstance(node, SequenceNode):
            self._report(node, path, f"expected a list such as [a, b], not {self._describe(node)}")
            return WRONG
        items = [self.value(item, kind.item_type, f"{path}[{i}]", key) for i, item in enumerate(node.value)]
        return WRONG if WRONG in items else items

    def _entries(self, node: MappingNode, path: str) -> list[tuple[str, Node, Node]]:
        """The entries of a mapping; keys that are not text or are repeated are reported."""
        entries: dict[str, tuple[str, Node, Node]] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                self._report(key, path, f"a key must be a word, not {self._describe(key)}")
            elif str(key.value) in entries:
                first = line_of(entries[str(key.value)][1])
                self._report(key, join(path, str(key.value)), f"is repeated, first in line {first}", "Keep one.")
            else:
                entries[str(key.value)] = (str(key.value), key, value)
        return list(entries.values())

    def _describe(self, node: Node) -> str:
        return "the given value" if self._secret and isinstance(node, ScalarNode) else _describe(node)

    def _report(self, node: Node, path: str, what: str, todo: str = "") -> None:
        self.problems.append(ConfigProblem(what=what, path=path, source=self.source, line=line_of(node), todo=todo))


def fits(value: object, kind: inspect.Type, key: Key) -> bool:
    """Whether a plain value is valid for a key."""
    check = _CHECKS.get(type(kind))
    return bool(check and check(value, kind, key))


def expected(kind: inspect.Type, key: Key) -> str:
    """What a key expects, in words."""
    if isinstance(kind, inspect.LiteralType):
        return f"one of {', '.join(key.choices)}"
    if isinstance(kind, (inspect.IntType, inspect.FloatType)):
        noun = "a whole number" if isinstance(kind, inspect.IntType) else "a number"
        return f"{noun}{_bounds(kind)}"
    if isinstance(kind, inspect.BoolType):
        return "true or false"
    return "a string"


def _bounds(kind: inspect.IntType | inspect.FloatType) -> str:
    low = f"{kind.ge:g}" if kind.ge is not None else None
    if low is not None and kind.le is not None:
        return f" from {low} to {kind.le:g}"
    if low is not None:
        return f" of at least {low}"
    return f" above {kind.gt:g}" if kind.gt is not None else ""


def _is_number(value: object, kind: inspect.Type, key: Key) -> bool:
    assert isinstance(kind, (inspect.IntType, inspect.FloatType))
    whole = isinstance(kind, inspect.IntType)
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not _finite(value):
        return False
    number = float(value)
    return (
        (kind.ge is None or number >= kind.ge)
        and (kind.gt is None or number > kind.gt)
        and (kind.le is None or number <= kind.le)
    )


def _finite(value: float) -> bool:
    # Larger numbers cannot be stored.
    return math.isfinite(value) and abs(value) < 2**63


_CHECKS: dict[type[inspect.Type], Callable[[object, inspect.Type, Key], bool]] = {
    inspect.BoolType: lambda value, kind, key: isinstance(value, bool),
    inspect.IntType: _is_number,
    inspect.FloatType: _is_number,
    inspect.StrType: lambda value, kind, key: isinstance(value, str),
    inspect.LiteralType: lambda value, kind, key: value in key.choices,
}


def _instead(node: Node, kind: inspect.Type, key: Key) -> str:
    """A suggestion for an invalid value."""
    if isinstance(node, ScalarNode) and isinstance(kind, inspect.StrType):
        return "Put it in quotes."
    near = nearest(str(node.value), key.choices) if isinstance(node, ScalarNode) and key.choices else None
    return f"Did you mean {near}?" if near else ""


def _names(real: str) -> list[str]:
    return [real, *(alias for alias, name in ALIASES.items() if name == real)]


def _is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and value_of(node) is None


def _describe(node: Node) -> str:
    if isinstance(node, MappingNode):
        return "keys and values"
    if isinstance(node, SequenceNode):
        return "a list"
    text = str(node.value)
    return repr(text if len(text) <= 40 else f"{text[:37]}...")
