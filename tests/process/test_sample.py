"""Figures of a tree cost nothing that grows with the machine."""

from __future__ import annotations

import sys

import pytest

from interlock.core import RunSpec
from interlock.process import proc, spawn
from interlock.process.tree import ProcessTree

from ..waiting import eventually

NEST = (
    "import os, subprocess, sys, threading, time;"
    "subprocess.Popen(['sleep', '60']);"
    "threading.Thread(target=lambda: (subprocess.Popen(['sleep', '61']), time.sleep(60))).start();"
    "subprocess.Popen(['sh', '-c', 'sleep 62 & exec sleep 63'], start_new_session=True, env={});"
    "time.sleep(60)"
)


@pytest.fixture(params=[True, False], ids=["cgroup", "children"])
def tree(request: pytest.FixtureRequest) -> ProcessTree:
    made = spawn(
        RunSpec(run_id="run-1", argv=(sys.executable, "-c", NEST)), mechanism="cgroup" if request.param else "signals"
    )
    request.addfinalizer(lambda: made.end(0))
    return made


def test_a_sample_finds_everybody_without_looking_at_the_machine(
    tree: ProcessTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    eventually(lambda: len(tree.pids()) == 5)
    everybody = set(tree.pids())

    def never() -> dict[int, proc.Process]:
        raise AssertionError("the whole machine was looked at")

    monkeypatch.setattr(proc, "read_processes", never)
    assert tree.usage().processes == 5
    assert {process.pid for process in tree._sample()} == everybody
    monkeypatch.undo()


def test_a_sample_finds_what_was_forked_since_the_last_look(tree: ProcessTree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.pids()
    monkeypatch.setattr(proc, "read_processes", dict)
    eventually(lambda: tree.usage().processes == 5)
    monkeypatch.undo()
