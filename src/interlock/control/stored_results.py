"""StoredResults: the RESULTs of a run as an immutable value whose cost does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from math import inf
from types import MappingProxyType

from msgspec import Struct

NEWER = 32
"""So many are copied for one more; then they join the older ones, which are copied that seldom."""


class StoredResult(Struct, frozen=True):
    """A stored RESULT, byte for byte, and when it was given (steady)."""

    fingerprint: bytes
    result: bytes
    at: float


NONE: Mapping[str, StoredResult] = MappingProxyType({})


class StoredResults:
    """By request id, in the order in which they were given. Never changed: `add` and `since` make new ones."""

    __slots__ = ("_newer", "_older", "oldest")

    def __init__(
        self,
        older: Mapping[str, StoredResult] = NONE,
        newer: Mapping[str, StoredResult] = NONE,
        oldest: float | None = None,
    ) -> None:
        self._older, self._newer = older, newer
        self.oldest = min((each.at for _, each in self.items()), default=inf) if oldest is None else oldest
        """When the first of them was given."""

    def get(self, request_id: str) -> StoredResult | None:
        return self._newer.get(request_id) or self._older.get(request_id)

    def add(self, request_id: str, stored: StoredResult) -> StoredResults:
        """These and one more, under an id that is not among them."""
        oldest = min(self.oldest, stored.at)
        if len(self._newer) < NEWER:
            return StoredResults(self._older, {**self._newer, request_id: stored}, oldest)
        return StoredResults({**self._older, **self._newer}, {request_id: stored}, oldest)

    def since(self, horizon: float) -> StoredResults:
        """Those given at this time or later."""
        return StoredResults({key: stored for key, stored in self.items() if stored.at >= horizon})

    def items(self) -> Iterable[tuple[str, StoredResult]]:
        return chain(self._older.items(), self._newer.items())

    def __iter__(self) -> Iterator[str]:
        return chain(self._older, self._newer)

    def __len__(self) -> int:
        return len(self._older) + len(self._newer)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StoredResults) and list(self.items()) == list(other.items())

    def __hash__(self) -> int:
        return hash(tuple(self))


NOTHING = StoredResults()
