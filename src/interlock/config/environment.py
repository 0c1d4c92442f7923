"""Environment variables: INTERLOCK_A__B=value sets the key a.b."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import inspect, structs

from .document import UnreadableDocument, parse
from .document_check import ALIASES, WRONG, DocumentCheck
from .key_types import PREFIX, Key, is_override, join, keys_of, root, without_none
from .problem import ConfigProblem, describe_unknown_key

NOTHING = ("", "null", "~")
"""Values that unset an optional key."""


class Override:
    """What one variable sets: the path of the key and its plain value, or its problems."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.path: tuple[str, ...] = ()
        self.value: object = WRONG
        self.problems: list[ConfigProblem] = []
        self._set(text)

    def apply(self, values: dict[str, object]) -> None:
        """Set the key in plain values."""
        *sections, last = self.path
        for section in sections:
            inner = values.setdefault(section, {})
            assert isinstance(inner, dict)
            values = inner
        old = values.get(last)
        values[last] = {**old, **self.value} if isinstance(old, dict) and isinstance(self.value, dict) else self.value

    def keys(self) -> Iterator[str]:
        """Every key that it sets, dotted: itself, and those below it."""
        waiting: list[tuple[tuple[str, ...], object]] = [(self.path, self.value)]
        while waiting:
            path, value = waiting.pop()
            yield ".".join(path)
            if isinstance(value, dict):
                waiting += [((*path, str(name)), inner) for name, inner in value.items()]

    def _set(self, text: str) -> None:
        section: inspect.StructType | None = root()
        words = self.name.removeprefix(PREFIX).lower().split("__")
        for index, word in enumerate(words):
            assert section is not None
            path = ".".join(self.path)
            real = ALIASES.get(word, word) if not path else word
            key = keys_of(section).get(real)
            if key is None:
                what, todo = describe_unknown_key(word, path, section)
                self._report(join(path, word), what, todo)
                return
            self.path = (*self.path, real)
            section, rest = key.section, words[index + 1 :]
            if section is None or not rest:
                self._assign(text, key, rest)
                return

    def _assign(self, text: str, key: Key, rest: list[str]) -> None:
        """Parse the text as the value of a key, or of one name in a mapping."""
        kind, nullable = without_none(key.kind)
        if rest:
            if not isinstance(kind, inspect.DictType):
                self._report(".".join((*self.path, *rest)), f"{self._dotted} has no keys of its own")
                return
            self.path = (*self.path, "__".join(rest))
            kind, nullable = without_none(kind.value_type)
        if isinstance(kind, inspect.StrType):
            self.value = None if nullable and text.strip() in NOTHING else text
            return
        try:
            node = parse(text, self.name) or parse("null", self.name)
            assert node is not None
        except UnreadableDocument as unreadable:
            # A parser's message may repeat what it read.
            what = unreadable.problem.what
            self._report(self._dotted, "is not YAML" if what.startswith("is not YAML") else what)
            return
        walk = DocumentCheck(self.name, secret=True)
        self.value = walk.value(
            node, inspect.UnionType((kind, inspect.NoneType())) if nullable else kind, self._dotted, key
        )
        self.problems += [structs.replace(problem, line=None) for problem in walk.problems]

    @property
    def _dotted(self) -> str:
        return ".".join(self.path)

    def _report(self, path: str, what: str, todo: str = "") -> None:
        self.problems.append(ConfigProblem(what=what, path=path, source=self.name, todo=todo))


def overrides(env: Mapping[str, str]) -> Iterator[Override]:
    """The variables that set a key: whole sections first, so that single keys override them."""
    for name in sorted(env):
        if is_override(name):
            yield Override(name, env[name])
