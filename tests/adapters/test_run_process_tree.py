"""What is done to a run's processes before anybody knows them."""

from __future__ import annotations

import threading

import pytest

from interlock.adapters import run_process_tree as module
from interlock.adapters.run_process_tree import RunProcessTree
from interlock.core import Limits, RunSpec
from interlock.process import spawn


def test_a_restore_waits_for_a_command_that_is_being_started() -> None:
    held, seen = RunProcessTree(expected=True), list[bool]()
    held.on_frozen = lambda: seen.append(held.tree is not None and held.tree.frozen())

    def restore() -> None:
        with held.frozen():
            pass

    restoring = threading.Thread(target=restore)
    restoring.start()
    with spawn(RunSpec(run_id="x", argv=("sleep", "60"))) as tree:
        held.attach(tree)
        restoring.join()
        assert seen == [True] and not tree.frozen()


@pytest.mark.parametrize("expected", [True, False])
def test_without_a_command_its_work_is_kept_all_the_same(expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STARTING_S", 0.01)
    held, kept = RunProcessTree(expected=expected), list[str]()
    held.on_frozen = lambda: kept.append("all")
    with held.frozen():
        assert kept == ["all"]


def test_a_limit_that_nobody_can_hold_is_named() -> None:
    held = RunProcessTree()
    with spawn(RunSpec(run_id="x", argv=("sleep", "60")), mechanism="signals") as tree:
        held.attach(tree)
        held.limit(Limits(max_cpu_percent=50, max_memory_mb=500))
        assert held.not_held == ("max_cpu_percent 50 (no usable cpu controller)",)
        held.limit(Limits(max_memory_mb=500))
        assert held.not_held == ()
