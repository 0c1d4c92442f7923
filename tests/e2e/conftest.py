"""A place for runs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .running import Place


@pytest.fixture
def small_disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A disk of its own, of 2 MiB unless told otherwise."""
    disk, size = tmp_path / "disk", getattr(request, "param", "2m")
    disk.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk], capture_output=True)
    if done.returncode != 0:
        pytest.skip("no tmpfs may be mounted here")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


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
