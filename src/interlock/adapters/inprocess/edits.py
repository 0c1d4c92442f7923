"""HistoryEdits: what we changed in a conversation whose history the framework keeps without our changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class HistoryEdits(Generic[T]):
    """Done again in every later request at the same place, so that the model sees one conversation.

    Places count items of the framework's own history, which only grows.
    """

    def __init__(self) -> None:
        self._added: list[tuple[int, T]] = []
        self._gone: list[tuple[int, int]] = []

    def add(self, at: int, item: T) -> None:
        """Put an item behind the first `at` items of the history."""
        self._added.append((at, item))

    def cut(self, keep: int, length: int) -> None:
        """Leave out everything between the first `keep` items and the end, which is at `length` now."""
        self._added = [(at, item) for at, item in self._added if at <= keep]
        self._gone.append((keep, length))

    def apply(self, history: Sequence[T]) -> list[T]:
        """The history as the model is to see it."""
        shown: list[T] = []
        for place in range(len(history) + 1):
            shown += [item for at, item in self._added if at == place]
            if place < len(history) and not any(begin <= place < end for begin, end in self._gone):
                shown.append(history[place])
        return shown
