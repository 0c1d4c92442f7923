"""What was looked at before a tree began is no part of it, and is not read again; of an older tree nothing is missed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from interlock.process import MARKER, ProcessTree, attach, proc, process_family, start_of

from ..waiting import until
from .trouble import Starter, Trouble

PROCESSES = 5
"""Of a family of troublemakers."""


@pytest.fixture(autouse=True)
def nothing_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_family, "_ahead", None)


@pytest.fixture
def bystander() -> Iterator[int]:
    """A process that belongs to no tree."""
    process = subprocess.Popen(["sleep", "1000"])
    yield process.pid
    process.kill()
    process.wait()


def scan_ahead() -> None:
    """Look, and wait until what begins now is younger than all that was seen, by the kernel's clock."""
    process_family.scan_ahead()
    assert process_family._ahead is not None
    newest = process_family._ahead.newest

    def ticks() -> bool:
        with subprocess.Popen(["true"]) as process:
            return (start_of(process.pid) or 0) > newest

    until("the clock has moved on", ticks)


def assert_whole(tree: ProcessTree, trouble: Trouble) -> None:
    found = attach(tree.handle()).pids()
    assert len(found) == PROCESSES
    assert {*found} <= {*trouble.processes()}


def test_a_tree_that_begins_later_is_seen_whole(
    start: Starter, mechanism: str, bystander: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan_ahead()
    tree, trouble = start("family", mechanism)
    trouble.hear(PROCESSES)
    read: list[int] = []
    environment_of = proc.environment_of
    monkeypatch.setattr(proc, "environment_of", lambda pid: read.append(pid) or environment_of(pid))  # type: ignore[func-returns-value]
    assert_whole(tree, trouble)
    assert bystander not in read


def test_of_a_tree_that_was_there_before_nothing_is_missed(start: Starter, mechanism: str) -> None:
    tree, trouble = start("one", mechanism)
    trouble.hear()
    # Only its environment tells whose it is.
    with subprocess.Popen(["sleep", "1000"], env={MARKER: tree.handle().marker}) as stray:
        scan_ahead()
        found = attach(tree.handle()).pids()
        stray.kill()
    assert {*found} == {tree.pid, stray.pid}


def test_whoever_has_the_pid_of_a_stranger_by_now_is_looked_at(start: Starter, mechanism: str) -> None:
    scan_ahead()
    seen = process_family._ahead
    assert seen is not None
    tree, trouble = start("family", mechanism)
    trouble.hear(PROCESSES)
    # As if the pids had been those of others then.
    others = dict.fromkeys(trouble.processes(), seen.newest)
    process_family._ahead = seen._replace(strangers={**seen.strangers, **others})
    assert_whole(tree, trouble)
