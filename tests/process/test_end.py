"""Ending leaves no orphan: politely first, then by force, frozen or not."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from interlock.process import UNKNOWN_STATUS, cgroup_hierarchy

from ..waiting import until
from .trouble import Starter

LINES = {"family": 5, "fork_loop": 1, "fork_chain": 1, "detached_chain": 1, "fork_burst": 1, "deaf": 1}


@pytest.mark.parametrize("frozen", [False, True], ids=["running", "frozen"])
@pytest.mark.parametrize("mode", LINES)
def test_whatever_it_does_nothing_of_it_is_left(mode: str, frozen: bool, mechanism: str, start: Starter) -> None:
    tree, trouble = start(mode, mechanism)
    trouble.hear(LINES[mode])
    if frozen:
        tree.freeze()
    ended = tree.end(grace_s=0)
    assert trouble.processes() == []
    assert ended.how == "killed"
    assert ended.left == ()
    assert not tree.alive()


def test_a_process_that_listens_is_asked_first(mechanism: str, start: Starter) -> None:
    tree, trouble = start("one", mechanism)
    trouble.hear()
    ended = tree.end(grace_s=60)
    assert ended.how == "asked"
    assert ended.killed == 0
    assert ended.status == -signal.SIGTERM
    assert ended.words == "1 processes ended when asked to"


def test_a_frozen_process_hears_the_request_too(mechanism: str, start: Starter) -> None:
    tree, trouble = start("one", mechanism)
    trouble.hear()
    tree.freeze()
    assert tree.end(grace_s=60).how == "asked"


def test_a_process_that_a_signal_stopped_hears_the_request_too(mechanism: str, start: Starter) -> None:
    tree, trouble = start("one", mechanism)
    trouble.hear()
    os.kill(tree.pid, signal.SIGSTOP)
    assert tree.end(grace_s=60).how == "asked"


def test_one_that_ignores_the_request_is_killed_after_the_grace(mechanism: str, start: Starter) -> None:
    tree, trouble = start("family", mechanism)
    trouble.hear(5)
    ended = tree.end(grace_s=0.3)
    assert ended.how == "killed"
    assert ended.processes == 5


def test_only_what_is_left_after_the_grace_is_killed(mechanism: str, start: Starter) -> None:
    tree, trouble = start("family", mechanism)
    trouble.hear(5)
    # Not left to the grace: on a busy machine those that have taken the request need longer to be gone.
    for pid in tree.pids():
        os.kill(pid, signal.SIGTERM)
    until("only the one that ignores it is left", lambda: len(tree.pids()) == 1)
    ended = tree.end(grace_s=0.3)
    assert (ended.how, ended.processes, ended.killed) == ("killed", 1, 1)


def test_what_the_command_left_behind_is_alive_until_it_is_ended(mechanism: str, start: Starter) -> None:
    tree, trouble = start("detached_chain", mechanism)
    trouble.hear()
    assert tree.wait(150) == 0
    assert tree.alive()
    tree.end(0)
    assert not tree.alive()


def test_ending_twice_says_that_it_is_gone(mechanism: str, start: Starter) -> None:
    tree, trouble = start("one", mechanism)
    trouble.hear()
    tree.end(0)
    again = tree.end(0)
    assert again.how == "gone"
    assert again.status == -signal.SIGKILL


def test_no_cgroup_folder_stays_behind(start: Starter, mechanism: str) -> None:
    tree, trouble = start("family", mechanism)
    trouble.hear(5)
    handle = tree.handle()
    folders = [Path(path) for path in (handle.group, *handle.controllers.values()) if path]
    assert all(folder.is_dir() for folder in folders)
    if mechanism == "cgroup":
        (folders[0] / "made-inside").mkdir()
    tree.end(0)
    assert not any(folder.exists() for folder in folders)


def test_without_its_keeper_a_tree_is_still_found_and_ended(start: Starter) -> None:
    tree, trouble = start("family", "signals")
    trouble.hear(5)
    assert len(tree.pids()) == 5
    keeper = tree.handle().keeper
    assert keeper is not None
    os.kill(keeper.pid, signal.SIGKILL)
    until("the keeper is gone", lambda: not keeper.there())
    assert len(tree.pids()) == 5
    assert tree.poll() is None
    tree.end(0)
    assert trouble.processes() == []
    assert tree.poll() == UNKNOWN_STATUS


def test_a_process_that_left_its_cgroup_is_frozen_and_ended_all_the_same(start: Starter, cgroup: str) -> None:
    tree, trouble = start("family", cgroup)
    trouble.hear(5)
    outside = cgroup_hierarchy.own_folder("cgroup2")
    assert outside is not None
    (outside / "cgroup.procs").write_text(str(tree.pid))
    how = tree.freeze()
    assert how.held
    assert how.strays == 1
    assert how.processes == 5
    assert "had left the cgroup" in how.words
    tree.thaw()
    assert tree.end(0).left == ()
    assert trouble.processes() == []
