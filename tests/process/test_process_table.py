"""A look that does not read everything again sees what one sees that does."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.process import proc, process_family
from interlock.process.proc import Process
from interlock.process.process_family import PidCount, ProcessTable

LOWEST, HIGHEST = 3, 2000
RUN = 2
"""The first process of the run; 1 is the machine's."""


class Machine:
    """A kernel that has given out all pids once: the next ones are those that have become free."""

    def __init__(self) -> None:
        self.parents = {1: 0, RUN: 1}
        self.starts = {1: 0, RUN: 1}
        self.newest, self.given, self.read = RUN, 2, 0

    def fork(self, parent: int) -> None:
        free = [pid for pid in range(LOWEST, HIGHEST) if pid not in self.parents]
        if not free:
            return
        self.newest = next((pid for pid in free if pid > self.newest), free[0])
        self.given += 1
        self.parents[self.newest], self.starts[self.newest] = parent, self.given

    def end(self, pid: int) -> None:
        """Orphans go to the run's first process if they are its own, else to the machine's."""
        reaper = RUN if pid in self.members() else 1
        del self.parents[pid], self.starts[pid]
        self.parents = {child: reaper if parent == pid else parent for child, parent in self.parents.items()}

    def members(self) -> set[int]:
        found = {RUN}
        while more := {pid for pid, parent in self.parents.items() if parent in found and pid not in found}:
            found |= more
        return found

    def read_process(self, pid: int) -> Process | None:
        self.read += 1
        if pid not in self.parents:
            return None
        return Process(pid, self.starts[pid], "S", self.parents[pid], 0, 0, 1, 0.0, 0.0, 0)

    def read_processes(self, known: dict[int, Process]) -> dict[int, Process]:
        seen = (known.get(pid) or self.read_process(pid) for pid in self.parents)
        return {process.pid: process for process in seen if process}

    def count(self) -> PidCount:
        return PidCount(self.newest, self.given, len(self.parents), HIGHEST)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return _install(monkeypatch)


def _install(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    monkeypatch.setattr(proc, "read_process", made.read_process)
    monkeypatch.setattr(proc, "read_processes", made.read_processes)
    monkeypatch.setattr(process_family, "count_pids", made.count)
    monkeypatch.setattr(process_family, "RESERVED", 0)
    return made


@given(st.integers(min_value=0), st.integers(min_value=1, max_value=40))
def test_whatever_begins_and_ends_each_look_tells_the_members(seed: int, between: int) -> None:
    chance = random.Random(seed)
    with pytest.MonkeyPatch.context() as patching:
        machine = _install(patching)
        for pid in chance.sample(range(LOWEST, 40), 15):
            machine.parents[pid], machine.starts[pid] = chance.choice(sorted(machine.parents)), -pid
        machine.newest = chance.randrange(LOWEST, 40)
        table = ProcessTable()
        for _ in range(12):
            if chance.random() < 0.1:
                machine.newest, machine.given = LOWEST, machine.given + HIGHEST
            for _ in range(chance.randrange(between)):
                pid = chance.choice(sorted(machine.parents))
                if pid <= RUN or (chance.random() < 0.5 and len(machine.parents) < 30):
                    machine.fork(pid)
                else:
                    machine.end(pid)
            seen = table.scan()
            assert seen.keys() == machine.parents.keys()
            assert {pid: process.start for pid, process in seen.items()} == machine.starts
            assert _descendants(seen) == machine.members()
            table.cache(process for pid, process in seen.items() if pid not in machine.members())


def _descendants(table: dict[int, Process]) -> set[int]:
    found = {RUN}
    while more := {pid for pid, process in table.items() if process.parent in found and pid not in found}:
        found |= more
    return found


def test_strangers_are_read_once(machine: Machine) -> None:
    for _ in range(10):
        machine.fork(1)
    table = ProcessTable()
    seen = table.scan()
    table.cache(process for pid, process in seen.items() if pid != RUN)
    machine.read = 0
    table.scan()
    assert machine.read == 1


def test_one_whose_parent_was_not_seen_is_read_again(machine: Machine) -> None:
    machine.fork(RUN)
    parent = machine.newest
    machine.fork(parent)
    table = ProcessTable()
    seen = table.scan()
    # The parent began after its place in the list was read, and ends before the next look.
    table.cache([seen[machine.newest]])
    machine.end(parent)
    assert table.scan()[machine.newest].parent == RUN


@pytest.mark.parametrize(
    ("newest", "given", "reused"),
    [
        (110, 1010, {101, 110}),
        (100, 1000, set()),
        (150, 9_200, {99, 100, 101, 110, 200}),
        (90, 1010, {99, 100, 101, 110, 200}),
        (110, 999, {99, 100, 101, 110, 200}),
    ],
)
def test_pids_that_may_have_been_given_again(newest: int, given: int, reused: set[int]) -> None:
    before, now = PidCount(100, 1000, 50, 32_768), PidCount(newest, given, 50, 32_768)
    found = before.reused(now)
    assert {pid for pid in (99, 100, 101, 110, 200) if found is None or pid in found} == reused


def test_a_kernel_that_does_not_count_has_all_read(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_family, "count_pids", lambda: None)
    machine.fork(1)
    table = ProcessTable()
    table.cache(table.scan().values())
    machine.read = 0
    table.scan()
    assert machine.read == len(machine.parents)


def test_this_kernel_counts() -> None:
    assert process_family.count_pids() is not None
