"""A place for runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .running import Place


@pytest.fixture
def place_with(tmp_path: Path) -> Iterator[Callable[..., Place]]:
    """Make a place with a configuration; afterwards nothing of it runs any more."""
    made: list[Place] = []

    def make(config: dict[str, Any] | None = None, **more: Any) -> Place:
        made.append(Place(tmp_path, config, **more))
        return made[-1]

    yield make
    for place in made:
        place.close()


@pytest.fixture
def place(place_with: Callable[..., Place]) -> Place:
    return place_with()
