"""A frozen tree stands still, whatever its processes did to get away, and goes on when thawed."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.core import RunSpec
from interlock.process import proc, spawn

from ..waiting import until
from .trouble import Starter

LINES = {"family": 5, "fork_loop": 1, "fork_chain": 1, "detached_chain": 1, "fork_burst": 1, "deaf": 1}


@pytest.mark.parametrize("mode", LINES)
def test_whatever_it_does_it_is_frozen_and_thawed(
    mode: str, mechanism: str, start: Starter, control: Callable[[], None]
) -> None:
    tree, trouble = start(mode, mechanism)
    trouble.hear(LINES[mode])

    how = tree.freeze()
    print(f"{mode}: frozen: {how.words}")
    assert how.held
    assert how.mechanism == mechanism
    assert how.processes >= 1
    assert tree.frozen()
    seen = trouble.beats()
    control()
    assert trouble.beats() == seen

    assert tree.thaw().held
    until("it counts again", lambda: trouble.beats() > seen)
    assert not tree.frozen()


WAITS_IN_THE_KERNEL = """
import os, sys
os.mkfifo(sys.argv[1])
os.posix_spawn("/bin/true", ["true"], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, sys.argv[1], os.O_RDONLY, 0)])
"""
"""The parent waits for its child, and takes no signal meanwhile; the child waits for one who writes to it."""


def test_a_process_that_only_waits_in_the_kernel_is_not_called_frozen(tmp_path: Path) -> None:
    argv = (sys.executable, "-c", WAITS_IN_THE_KERNEL, str(tmp_path / "fifo"))
    with spawn(RunSpec(run_id="test", argv=argv), mechanism="signals") as tree:
        until("the parent waits", lambda: [p.state for p in map(proc.read_process, tree.pids()) if p] == ["D", "S"])
        child = tree.pids()[1]
        os.kill(child, signal.SIGSTOP)
        until("the child is stopped", lambda: (seen := proc.read_process(child)) is not None and seen.stopped)
        assert not tree.frozen()
        assert tree.freeze().held
        assert tree.frozen()
        assert tree.thaw().held
        assert not tree.frozen()
        tree.end(0)


def test_freeze_says_how_many_processes_it_holds(mechanism: str, start: Starter) -> None:
    tree, trouble = start("family", mechanism)
    trouble.hear(5)
    assert tree.freeze().processes == 5
    assert len(tree.pids()) == 5
    assert set(tree.pids()) <= set(trouble.processes())


def test_freezing_and_thawing_twice_is_as_good_as_once(
    mechanism: str, start: Starter, control: Callable[[], None]
) -> None:
    tree, trouble = start("family", mechanism)
    trouble.hear(5)
    assert tree.freeze().held
    assert tree.freeze().held
    seen = trouble.beats()
    control()
    assert trouble.beats() == seen
    tree.thaw()
    tree.thaw()
    until("it counts again", lambda: trouble.beats() > seen)


def test_a_tree_that_is_gone_can_be_frozen_and_thawed_without_an_error(mechanism: str, start: Starter) -> None:
    tree, trouble = start("one", mechanism)
    trouble.hear()
    tree.end(0)
    assert tree.freeze().processes == 0
    assert tree.thaw().processes == 0
    assert tree.pids() == ()
    assert not tree.alive()


def test_the_strangers_beside_it_go_on(mechanism: str, start: Starter) -> None:
    tree, trouble = start("family", mechanism)
    other, bystander = start("one", mechanism)
    trouble.hear(5)
    bystander.hear()
    tree.freeze()
    seen = bystander.beats()
    until("the other tree goes on", lambda: bystander.beats() > seen)
    assert set(tree.pids()).isdisjoint(other.pids())


@pytest.mark.torture
@pytest.mark.parametrize("mode", ["fork_loop", "fork_chain", "detached_chain", "fork_burst"])
def test_a_hundred_freezes_of_a_forking_tree_all_hold(
    mode: str, mechanism: str, start: Starter, control: Callable[[], None]
) -> None:
    tree, trouble = start(mode, mechanism)
    trouble.hear()
    for _ in range(100):
        how = tree.freeze()
        assert how.held
        assert how.processes >= 1
        seen = trouble.beats()
        control()
        assert trouble.beats() == seen
        tree.thaw()
        until("it counts again", lambda seen=seen: trouble.beats() > seen)  # type: ignore[misc]
