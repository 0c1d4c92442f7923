"""Stores and runs on a real disk."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from interlock.core import ManualClock, RunSpec
from interlock.journal import Journal, RunFolder, Store, new_run_id


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(tmp_path: Path, clock: ManualClock) -> Store:
    return Store(tmp_path / "runs", clock)


@pytest.fixture
def make_run(store: Store, clock: ManualClock) -> Callable[..., RunFolder]:
    def make(name: str = "", **fields: object) -> RunFolder:
        clock.advance(1)
        return store.create(RunSpec(run_id=new_run_id(clock.time()), name=name, **fields))  # type: ignore[arg-type]

    return make


@pytest.fixture
def run(make_run: Callable[..., RunFolder]) -> RunFolder:
    return make_run("first")


@pytest.fixture
def journal(run: RunFolder, clock: ManualClock) -> Iterator[Journal]:
    with Journal.open(run, clock) as journal:
        yield journal


@pytest.fixture
def small_disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A disk of its own, of 2 MiB unless told otherwise."""
    size = getattr(request, "param", "2m")
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", str(place)], capture_output=True, check=False
    )
    if made.returncode != 0:
        pytest.skip(f"no disk can be mounted here: {made.stderr.decode(errors='replace').strip() or os.geteuid()}")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)
