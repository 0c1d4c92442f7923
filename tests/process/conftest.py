"""Trees of troublemakers, and a clock that runs on while they stand still."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from interlock.core import Limits, RunSpec
from interlock.process import ProcessTree, abilities, spawn

from ..waiting import until
from .trouble import Starter, Trouble


@pytest.fixture
def cgroup() -> str:
    """The mechanism of that name, where it can be had."""
    freeze = abilities()[0]
    if freeze.by != "kernel":
        pytest.skip(f"no cgroup here: {freeze.why}")
    return "cgroup"


@pytest.fixture(params=["cgroup", "signals"])
def mechanism(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue("cgroup") if request.param == "cgroup" else request.param)


@pytest.fixture
def trouble_of(tmp_path: Path) -> Iterator[Callable[[str], Trouble]]:
    """Make troublemakers; after the test none of their processes may be left."""
    made: list[Trouble] = []

    def make(mode: str) -> Trouble:
        made.append(Trouble(tmp_path, mode))
        return made[-1]

    yield make
    left = [pid for trouble in made for pid in trouble.processes()]
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for trouble in made:
        trouble.close()
    assert left == []


@pytest.fixture
def start(trouble_of: Callable[[str], Trouble]) -> Iterator[Starter]:
    """Start a troublemaker in a tree; it is ended after the test."""
    begun: list[ProcessTree] = []

    def begin(
        mode: str, mechanism: str, limits: Limits | None = None, **options: object
    ) -> tuple[ProcessTree, Trouble]:
        trouble = trouble_of(mode)
        spec = RunSpec(run_id="test", argv=trouble.argv)
        tree = spawn(spec, mechanism=mechanism, limits=limits, pass_fds=(trouble.ready,), **options)  # type: ignore[arg-type]
        begun.append(tree)
        return tree, trouble

    yield begin
    for tree in begun:
        tree.end(0)


@pytest.fixture
def control(tmp_path: Path) -> Iterator[Callable[[], None]]:
    """A process outside every tree that counts too: waiting for it gives whoever is not frozen the time to show it."""
    trouble = Trouble(tmp_path, "one")
    process = subprocess.Popen(trouble.argv, pass_fds=(trouble.ready,))
    trouble.hear()

    def let_time_pass() -> None:
        seen = trouble.beats()
        until("the control goes on", lambda: trouble.beats() > seen + 20_000)

    yield let_time_pass
    process.kill()
    process.wait()
    trouble.close()
