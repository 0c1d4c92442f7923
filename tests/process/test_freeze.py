"""A frozen tree stands still, whatever its processes did to get away, and goes on when thawed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
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


def test_a_process_that_waits_in_the_kernel_is_frozen_only_where_it_was_stopped(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    (tmp_path / "stuck.c").write_text(STUCK)
    subprocess.run(["gcc", "-o", "stuck", "stuck.c"], cwd=tmp_path, check=True)
    with spawn(RunSpec(run_id="test", argv=("./stuck",), cwd=str(tmp_path)), mechanism="signals") as tree:
        until("it waits for its child", lambda: len(tree.pids()) == 2)
        (child,) = set(tree.pids()) - {tree.pid}
        until("it waits in the kernel", lambda: states(tree.pid) == "D")
        os.kill(child, signal.SIGSTOP)
        until("its child is stopped", lambda: states(child) == "T")
        assert not tree.frozen(), "whoever lets the child go on lets it go on too"
        assert tree.freeze().processes == 2 and tree.frozen()
        tree.thaw()
        until("it may go on", lambda: states(child) == "S")
        assert not tree.frozen() and states(tree.pid) == "D"


def states(pid: int) -> str:
    return proc.thread_states(pid)


STUCK = """
#include <unistd.h>
int main(void) { if (vfork() == 0) { pause(); _exit(0); } return 0; }
"""
"""Its parent waits for the child in the kernel, and takes no signal meanwhile (state D)."""


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
