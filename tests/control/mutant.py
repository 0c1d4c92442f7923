"""What a mutant is: a plausible mistake, made on purpose, that the checker must catch."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

MUTANTS: dict[str, Callable[[], contextlib.AbstractContextManager[object]]] = {}


def mutant(make: Callable[[], Iterator[object]]) -> Callable[[], Iterator[object]]:
    """Register a mutant; the protocol has the mistake while its context lasts."""
    MUTANTS[make.__name__] = contextlib.contextmanager(make)
    return make


def patched(owner: object, name: str, value: object) -> Any:
    return mock.patch.object(owner, name, value)
