"""ProcessTable: every process of the machine, at a cost that hardly grows with it.

Most processes of a machine have nothing to do with a run, and never will: what a process belongs to comes from its
ancestors. One that was seen with all of its ancestors, none of them the run's, is not read again while it lives.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from . import proc
from .proc import Process

RESERVED = 300
"""Pids that the kernel gives out only once after the boot."""


class PidCount(NamedTuple):
    """How far the kernel has come in giving out pids: the newest, how many since the boot, threads, the largest pid."""

    newest: int
    given: int
    threads: int
    most: int

    def may_reuse(self, pid: int, now: PidCount) -> bool:
        """Whether a pid may be another process's by `now`.

        They are given out in rising order, and then again from the lowest, without those in use: a thread keeps its own
        and those of its group and session. Where all of these together are too few for a round, there was none.
        """
        given = now.given - self.given
        around = given < 0 or 4 * (given + self.threads) > self.most - RESERVED
        return around or now.newest < self.newest or self.newest < pid <= now.newest


def count_pids() -> PidCount | None:
    """How far they have come; None if the kernel does not tell."""
    newest = proc.read_bytes("/proc/sys/kernel/ns_last_pid").strip()
    given = proc.read_bytes("/proc/stat").rpartition(b"\nprocesses ")[2].partition(b"\n")[0]
    threads = proc.read_bytes("/proc/loadavg").partition(b"/")[2].partition(b" ")[0]
    most = proc.read_bytes("/proc/sys/kernel/pid_max").strip()
    if not all(number.isdigit() for number in (newest, given, threads, most)):
        return None
    return PidCount(int(newest), int(given), int(threads), int(most))


class ProcessTable:
    """Look, say who is a stranger, look again."""

    def __init__(self) -> None:
        self._settled: dict[int, Process] = {}
        self._counted: PidCount | None = None

    def look(self) -> dict[int, Process]:
        """Every process that is not dead, by pid. Of a stranger that was settled, group and session may be old."""
        before = count_pids()
        table = proc.look_around(self._settled)
        after = count_pids()
        for pid, process in self._settled.items():
            if pid in table and self._may_differ(process, table, after):
                fresh = proc.look_at(pid)
                if fresh is None or fresh.dead:
                    del table[pid]
                else:
                    table[pid] = fresh
        self._counted = before
        return table

    def _may_differ(self, process: Process, table: dict[int, Process], now: PidCount | None) -> bool:
        """Whether the pid may have been given again, or its parent has changed. Parents are settled before children."""
        if self._counted is None or now is None or self._counted.may_reuse(process.pid, now):
            return True
        return process.parent > 1 and table.get(process.parent) is not self._settled.get(process.parent)

    def settle(self, strangers: Iterable[Process]) -> None:
        """Those of the last look that are strangers; each is settled that has settled ancestors only."""
        settled: dict[int, Process] = {}
        for process in sorted(strangers, key=lambda each: (each.start, each.pid)):
            if process.parent <= 1 or process.parent in settled:
                settled[process.pid] = process
        self._settled = settled
