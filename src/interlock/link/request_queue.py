"""RequestQueue: requests that wait for the endpoint; cancels come first, and no single sender can fill it."""

from __future__ import annotations

import heapq
import threading
from collections import Counter
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

from ..core import json_decoder

Item = TypeVar("Item")

MOST = 1000
"""Waiting copies per sender, cancels separately. More are dropped: a sender retries after 30 s."""


class RequestQueue(Generic[Item]):
    """Thread-safe. Except for cancels, requests stay in order: a pause must not overtake a resume."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._heap: list[tuple[bool, int, str, Item]] = []
        self._waiting: Counter[tuple[bool, str]] = Counter()
        self._count = 0

    def put(self, data: bytes, sender: str, item: Item) -> bool:
        """Add a copy; False if too many of this sender wait."""
        later = not is_cancel(data)
        with self._lock:
            if self._waiting[later, sender] >= MOST:
                return False
            self._waiting[later, sender] += 1
            self._count += 1
            heapq.heappush(self._heap, (later, self._count, sender, item))
            return True

    def pop(self, *, cancels_only: bool = False) -> Item | None:
        """Remove and return the next copy; None if there is none."""
        with self._lock:
            if not self._heap or (cancels_only and self._heap[0][0]):
                return None
            later, _, sender, item = heapq.heappop(self._heap)
            self._waiting[later, sender] -= 1
            return item


class _Command(Struct):
    command: str = ""


_decoder = json_decoder(_Command)


def is_cancel(data: bytes) -> bool:
    """Whether a message is a cancel; an unreadable one is not."""
    try:
        return _decoder.decode(data).command == "cancel"
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
