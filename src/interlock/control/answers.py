"""Answers: the stored RESULTs of a run, a value like all of its state, that does not grow costly with their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from math import inf
from types import MappingProxyType

from msgspec import Struct

NEWER = 32
"""So many are copied for one more; then they join the older ones, which are copied that seldom."""


class Answered(Struct, frozen=True):
    """A stored RESULT, byte for byte, and when it was given (steady)."""

    fingerprint: bytes
    result: bytes
    at: float


NONE: Mapping[str, Answered] = MappingProxyType({})


class Answers:
    """By request id, in the order in which they were given. Never changed: `add` and `since` make new ones."""

    __slots__ = ("_newer", "_older", "oldest")

    def __init__(
        self, older: Mapping[str, Answered] = NONE, newer: Mapping[str, Answered] = NONE, oldest: float | None = None
    ) -> None:
        self._older, self._newer = older, newer
        self.oldest = min((each.at for _, each in self.items()), default=inf) if oldest is None else oldest
        """When the first of them was given."""

    def get(self, request_id: str) -> Answered | None:
        return self._newer.get(request_id) or self._older.get(request_id)

    def add(self, request_id: str, stored: Answered) -> Answers:
        """These and one more, under an id that is not among them."""
        oldest = min(self.oldest, stored.at)
        if len(self._newer) < NEWER:
            return Answers(self._older, {**self._newer, request_id: stored}, oldest)
        return Answers({**self._older, **self._newer}, {request_id: stored}, oldest)

    def since(self, horizon: float) -> Answers:
        """Those given at this time or later."""
        return Answers({key: stored for key, stored in self.items() if stored.at >= horizon})

    def items(self) -> Iterable[tuple[str, Answered]]:
        return chain(self._older.items(), self._newer.items())

    def __iter__(self) -> Iterator[str]:
        return chain(self._older, self._newer)

    def __len__(self) -> int:
        return len(self._older) + len(self._newer)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Answers) and list(self.items()) == list(other.items())

    def __hash__(self) -> int:
        return hash(tuple(self))


NOTHING = Answers()
