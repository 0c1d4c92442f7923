"""A run none of whose processes runs is looked at rarely; what somebody else does to its files is noticed all the same."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from interlock.adapters.command.monitor import Monitor
from interlock.adapters.command.self_monitor import SelfMonitor
from interlock.adapters.hooks.hook_guardian import HookGuardian
from interlock.adapters.run_process_tree import RunProcessTree
from interlock.adapters.steps.server import StepServer
from interlock.core import Hold, RunSpec
from interlock.journal import RunFolder, Store, new_run_id
from interlock.link import listen
from interlock.process import spawn
from interlock.runtime import Supervisor

from ...e2e.running import until


@pytest.fixture
def supervisor(tmp_path: Path) -> Supervisor:
    return Supervisor.open(spec=RunSpec(run_id=new_run_id(), adapter="direct"), store=Store(tmp_path / "runs"))


def test_what_is_touched_is_looked_at_before_the_next_look_is_due(supervisor: Supervisor) -> None:
    held, touched, looks = RunProcessTree(), threading.Event(), list[bool]()
    here, _ = socket.socketpair()
    monitor = Monitor(
        supervisor, held, StepServer(here, supervisor), supervisor.run.summary.started,
        check_tampering=lambda: looks.append(touched.is_set()), is_touched=touched.is_set,
    )  # fmt: skip
    monitor._interval, monitor.due_s = 3600.0, lambda: 3600.0
    with supervisor, spawn(RunSpec(run_id="x", argv=("sleep", "3600"))) as tree:
        if tree.mechanism != "cgroup":
            pytest.skip("needs a cgroup, by which it is seen that nothing runs")
        held.attach(tree)
        until("it sleeps", lambda: not tree.has_run())
        monitor.start()
        touched.set()
        until("it is looked at", lambda: looks[-3:] == [True] * 3)
        monitor.close()


def look_on(watch: SelfMonitor) -> None:
    """What the monitor does: look as long as something is touched."""
    for _ in range(6):
        if watch.is_touched():
            watch.check()


def test_a_socket_gate_or_journal_that_is_not_what_it_was_is_touched(supervisor: Supervisor, tmp_path: Path) -> None:
    folder, held, path = RunFolder(tmp_path / "runs" / supervisor.run.spec.run_id), RunProcessTree(), tmp_path / "s"
    with supervisor, listen(path):
        watch = SelfMonitor(supervisor, HookGuardian(supervisor, held), held, folder, contained=False)
        bound: list[socket.socket] = []
        watch.keep_socket(path, lambda: bound.append(listen(path)))
        look_on(watch)
        assert not watch.is_touched()
        path.unlink()
        assert watch.is_touched()
        look_on(watch)
        assert not watch.is_touched() and path.is_socket()
        supervisor.run.hold(Hold("wait", "pause"), 0)
        look_on(watch)
        kept = folder.gate.read_bytes()
        folder.gate.unlink()
        assert watch.is_touched()
        look_on(watch)
        assert folder.gate.read_bytes() == kept, "mended while it counts as touched"
        assert not watch.is_touched()
        folder.journal.rename(tmp_path / "journal")
        assert watch.is_touched()
        look_on(watch)
        assert not watch.is_touched()
        (tmp_path / "journal").rename(folder.journal)
        bound[0].close()
