"""A tree outlives whoever started it: frozen stays frozen, and another process takes over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable

import msgspec
import pytest

from interlock.core import Limits, RunSpec
from interlock.core.platform import boot_id
from interlock.process import UNKNOWN_STATUS, ProcessId, TreeHandle, attach, proc, spawn

from ..waiting import until
from .trouble import Starter, Trouble

OWNER = """
import sys, signal, msgspec
from interlock.core import RunSpec
from interlock.process import spawn
mechanism, ready, *argv = sys.argv[1:]
tree = spawn(RunSpec(run_id="test", argv=tuple(argv)), mechanism=mechanism, pass_fds=(int(ready),))
sys.stdin.readline()
how = tree.freeze()
print(msgspec.json.encode(tree.handle()).decode(), how.held, sep="\\n", flush=True)
signal.pause()
"""


def test_a_freeze_survives_kill_9_of_its_owner_and_another_thaws_it(
    mechanism: str, trouble_of: Callable[[str], Trouble], control: Callable[[], None]
) -> None:
    trouble = trouble_of("family")
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, mechanism, str(trouble.ready), *trouble.argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        pass_fds=(trouble.ready,),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert owner.stdin is not None
    assert owner.stdout is not None
    try:
        trouble.hear(5)
        owner.stdin.write("freeze\n")
        owner.stdin.flush()
        handle = msgspec.json.decode(owner.stdout.readline(), type=TreeHandle)
        assert owner.stdout.readline() == "True\n"
    finally:
        owner.kill()
        owner.wait()
        owner.stdin.close()
        owner.stdout.close()

    tree = attach(handle)
    try:
        seen = trouble.beats()
        control()
        assert trouble.beats() == seen
        assert tree.frozen()
        assert len(tree.pids()) == 5
        assert tree.poll() is None

        assert tree.thaw().processes == 5
        until("it counts again", lambda: trouble.beats() > seen)
    finally:
        ended = tree.end(0)
    assert ended.killed == 5
    assert ended.status == UNKNOWN_STATUS


def test_a_handle_is_plain_json(mechanism: str, start: Starter) -> None:
    tree, _ = start("one", mechanism, Limits(max_memory_mb=300))
    handle = tree.handle()
    assert msgspec.json.decode(msgspec.json.encode(handle), type=TreeHandle) == handle
    assert handle.limits.max_memory_mb == 300


def test_a_later_process_with_the_same_pid_is_left_alone(control: Callable[[], None]) -> None:
    innocent = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import signal; signal.pause()"])
    start = proc.start_of(innocent.pid)
    assert start is not None
    try:
        other = ProcessId(innocent.pid, start - 1)
        tree = attach(TreeHandle(marker="none-such", boot=boot_id(), root=other, keeper=other))
        assert not tree.alive()
        assert tree.freeze().processes == 0
        assert tree.end(0).how == "gone"
        assert innocent.poll() is None
    finally:
        innocent.kill()
        innocent.wait()


def test_a_handle_from_before_a_reboot_matches_nothing(mechanism: str, start: Starter) -> None:
    tree, trouble = start("family", mechanism)
    trouble.hear(5)
    before = msgspec.structs.replace(tree.handle(), boot="another boot")
    assert attach(before).pids() == ()
    assert attach(before).end(0).how == "gone"
    assert len(tree.pids()) == 5


def test_whoever_looks_is_never_part_of_what_it_looks_at(start: Starter) -> None:
    tree, trouble = start("family", "signals")
    trouble.hear(5)
    # As if all sessions were the tree's: a member found by its marker must not draw our own session in.
    careless = msgspec.structs.replace(tree.handle(), session=None, keeper=None)
    assert set(attach(careless).pids()) <= set(trouble.processes())


def test_a_tree_inside_a_tree_belongs_to_both(mechanism: str, trouble_of: Callable[[str], Trouble]) -> None:
    trouble = trouble_of("one")
    argv = (sys.executable, "-c", OWNER, mechanism, str(trouble.ready), *trouble.argv)
    outer = spawn(
        RunSpec(run_id="outer", argv=argv),
        mechanism=mechanism,  # type: ignore[arg-type]
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=(trouble.ready,),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        inner = int(trouble.hear()[0])
        assert inner in outer.pids()
        assert outer.stdin is not None
        assert outer.stdout is not None
        outer.stdin.write(b"freeze\n")
        outer.stdin.flush()
        handle = msgspec.json.decode(outer.stdout.readline(), type=TreeHandle)
        assert inner in attach(handle).pids()
        os.kill(outer.pid, signal.SIGKILL)
    finally:
        assert outer.end(0).left == ()
    attach(handle).close()


@pytest.mark.parametrize("value", [0, -1, 2**22 + 5])
def test_a_pid_that_cannot_be_is_simply_not_there(value: int) -> None:
    assert not ProcessId(value, 1).there()
    assert proc.read_process(value) is None
    assert proc.send(value, 1, signal.SIGCONT) is False
