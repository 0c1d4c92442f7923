"""Limits are hit for real, and the tree says so in words."""

from __future__ import annotations

import pytest

from interlock.core import Limits
from interlock.process import ProcessTree

from ..waiting import until
from .trouble import Starter


def held_by(tree: ProcessTree, limits: Limits) -> dict[str, str]:
    return {held.limit: held.by for held in tree.limit(limits)}


def test_memory_beyond_the_limit_costs_the_process_that_took_it(mechanism: str, start: Starter) -> None:
    limits = Limits(max_memory_mb=64)
    tree, trouble = start("eat_memory", mechanism, limits)
    said = trouble.hear()[0]
    if said == "ate 150 MB":
        said = trouble.hear()[0]
    assert said == "ended by 9"
    trouble.hear()
    assert tree.alive()
    (event,) = tree.events()
    assert event.limit == "max_memory_mb"
    assert event.count >= 1
    assert "memory limit of 64 MB was reached" in event.words
    tree.end(0)
    assert tree.events() == (event,)


def test_processes_beyond_the_limit_are_refused_or_taken_away(mechanism: str, start: Starter) -> None:
    tree, trouble = start("have_children", mechanism, Limits(max_processes=6))
    by = held_by(tree, Limits(max_processes=6))["max_processes"]
    assert trouble.hear()[0] == ("refused after 5" if by == "kernel" else "lost one")
    until("no more than six are left", lambda: len(tree.pids()) <= 6)
    (event,) = tree.events()
    assert event.limit == "max_processes"
    assert "limit of 6 processes was reached" in event.words


def test_cpu_beyond_the_limit_is_slowed_down(start: Starter) -> None:
    tree, trouble = start("one", "auto", Limits(max_cpu_percent=20))
    if held_by(tree, Limits(max_cpu_percent=20))["max_cpu_percent"] != "kernel":
        pytest.skip("no cpu controller here")
    trouble.hear()
    until("the kernel slows it down", lambda: bool(tree.events()))
    assert "CPU limit of 20 % of a core was reached" in tree.events()[0].words


def test_a_cpu_limit_without_the_kernel_is_held_by_nobody_and_says_so(start: Starter) -> None:
    tree, _ = start("one", "signals")
    (held,) = tree.limit(Limits(max_cpu_percent=50))
    assert not held.held
    assert "no usable cpu controller" in held.note


def test_without_the_kernel_the_owner_watches_and_says_so(start: Starter) -> None:
    tree, _ = start("one", "signals")
    held = tree.limit(Limits(max_memory_mb=500, max_processes=50))
    assert [(h.limit, h.by) for h in held] == [("max_memory_mb", "watching"), ("max_processes", "watching")]


def test_a_limit_can_be_set_tightened_and_taken_away_while_it_runs(mechanism: str, start: Starter) -> None:
    tree, trouble = start("one", mechanism)
    trouble.hear()
    for limits in (Limits(max_memory_mb=400), Limits(max_memory_mb=200), Limits(max_memory_mb=800), Limits()):
        held = tree.limit(limits)
        assert [h.value for h in held if h.limit == "max_memory_mb"] == [m for m in [limits.max_memory_mb] if m]
        assert all(h.held for h in held)
    assert tree.handle().limits == Limits()
    assert tree.events() == ()


def test_limits_of_other_kinds_are_not_its_business(mechanism: str, start: Starter) -> None:
    tree, _ = start("one", mechanism, Limits(max_tokens=5, max_execution_time=1))
    assert tree.limit(Limits(max_tokens=5, max_execution_time=1)) == ()


def test_usage_counts_the_whole_tree(mechanism: str, start: Starter) -> None:
    tree, trouble = start("family", mechanism)
    trouble.hear(5)
    until("it has used CPU", lambda: tree.usage().cpu_seconds > 0.05)
    use = tree.usage()
    assert use.processes == 5
    assert use.threads >= 5
    assert 1 < use.memory_mb < 500
    tree.end(0)
    after = tree.usage()
    assert (after.processes, after.threads) == (0, 0)
    assert after.cpu_seconds >= use.cpu_seconds
