"""ProcessFamily: all descendants of one root, even if they tried to escape; ProcessTable: all processes."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from ..core import boot_id
from . import proc
from .handle import TreeHandle
from .proc import Process

MARKER = "INTERLOCK_TREE"
"""The environment variable that every process of a tree inherits; nested trees are joined by colons."""


class ProcessFamily:
    """Finds the members with every scan; a process that was once a member stays one.

    A process is a member if it is the root, if its parent is a member, if it carries the marker, or if it is in
    a session that a member opened. The keeper, if there is one, adopts orphans, so that even a process that forked
    twice, called setsid and emptied its environment has a parent that identifies it.
    """

    def __init__(self, handle: TreeHandle) -> None:
        self._handle = handle
        self._marker = handle.marker.encode()
        self._same_boot = handle.boot == boot_id()
        self._known: dict[int, int] = {handle.root.pid: handle.root.start}
        self._strangers: dict[int, int] = {}
        self._table = ProcessTable()
        self._never: set[int] = set()
        self._scanned = False
        self._scanning = threading.Lock()

    @property
    def keeper(self) -> int | None:
        """The pid of the keeper while it is alive."""
        keeper = self._handle.keeper
        return keeper.pid if keeper and keeper.there() else None

    def unseen(self, members: Collection[int]) -> frozenset[int]:
        """Children of the keeper that a scan missed: each forked the next one and ended before it was read."""
        keeper = self.keeper
        return frozenset(proc.children_of(keeper)) - frozenset(members) if keeper else frozenset()

    def descend(self) -> Iterator[int]:
        """Pids from the top down; children are read after their parent was yielded; fast, but not complete."""
        keeper = self.keeper
        open_ends = list(proc.children_of(keeper)) if keeper else []
        while open_ends:
            pid = open_ends.pop()
            yield pid
            open_ends += proc.children_of(pid)

    def scan(self, seeds: Iterable[int] = ()) -> tuple[dict[int, Process], dict[int, Process]]:
        """The members that are not dead, parents before children, and all other processes of the machine.

        `seeds` are pids known to be members from another source, such as a cgroup.
        """
        with self._scanning:
            table = self._table.scan()
            if not self._same_boot:
                return {}, table
            members = self._gather(table, set(seeds))
            self._scanned = True
            ordered = dict(sorted(members.items(), key=lambda item: item[1].start))
            self._known = {pid: process.start for pid, process in ordered.items()}
            others = {pid: process for pid, process in table.items() if pid not in members}
            known = self._strangers.get
            strangers = [p for pid, p in others.items() if known(pid) == p.start]
            self._strangers = {p.pid: p.start for p in strangers}
            self._table.cache(strangers)
            return ordered, others

    def has_left(self, inside: frozenset[int]) -> bool:
        """Whether a known member was not found in the last scan."""
        return not self._known.keys() <= inside

    def sample(self, inside: Collection[int] | None, *, strays: bool = False) -> dict[int, Process]:
        """The members, at a cost independent of the machine's size: from their cgroup, or from lists of children.

        With `strays`, children of processes in the cgroup are listed as well, as one may have left it.
        Processes that hide from both are found only by `scan`, which is the fallback: use `sample` for statistics, and
        for processes that `scan` has just found and stopped.
        """
        if not self._scanned or (inside is None and not (proc.TELLS_CHILDREN and self.keeper)):
            return self.scan(inside or ())[0]
        with self._scanning:
            keeper = self.keeper
            open_ends = [*self._known, *(inside or ()), *(proc.children_of(keeper) if keeper else ())]
            members: dict[int, Process] = {}
            seen = {keeper, *self._never}
            while open_ends:
                pid = open_ends.pop()
                if pid in seen:
                    continue
                seen.add(pid)
                process = proc.read_process(pid)
                if process is None or process.dead or self._known.get(pid, process.start) != process.start:
                    continue
                members[pid] = process
                if strays or inside is None or pid not in inside:
                    open_ends += proc.all_children_of(pid)
            self._known = {pid: process.start for pid, process in members.items()}
            return dict(sorted(members.items(), key=lambda item: item[1].start))

    def _gather(self, table: dict[int, Process], seeds: set[int]) -> dict[int, Process]:
        keeper = self.keeper
        children: dict[int, list[int]] = {}
        for pid, process in table.items():
            children.setdefault(process.parent, []).append(pid)
        self._never = self._barred(table)
        barred = self._never | ({keeper} if keeper else set())
        known, strangers = self._known, self._strangers
        open_ends = [
            pid
            for pid, p in table.items()
            # Rule out known strangers first: almost all are.
            if pid in seeds or ((pid in known or strangers.get(pid) != p.start) and self._belongs(p))
        ]
        open_ends += children.get(keeper, []) if keeper else []
        members: dict[int, Process] = {}
        while open_ends:
            while open_ends:
                pid = open_ends.pop()
                if pid in table and pid not in members and pid not in barred:
                    members[pid] = table[pid]
                    open_ends += children.get(pid, [])
            sessions = self._own_sessions(table, members)
            rest = table.keys() - members.keys() - barred
            open_ends = [pid for pid in rest if table[pid].session in sessions]
        return members

    def _own_sessions(self, table: dict[int, Process], members: dict[int, Process]) -> set[int]:
        """Sessions that a member opened: the leader is a member, or has ended and the session is not a foreign one."""
        foreign = {self._handle.session, os.getsid(0), 0}
        sessions = {p.session for p in members.values()}
        return {s for s in sessions if s in members or (s not in table and s not in foreign)}

    def _barred(self, table: dict[int, Process]) -> set[int]:
        """Ourselves and our ancestors, unless we are inside the tree: they can never be members."""
        line = [os.getpid()]
        while (process := table.get(line[-1])) and process.parent:
            line.append(process.parent)
        return {os.getpid(), 1} if self._handle.root.pid in line else {*line, 1}

    def _belongs(self, process: Process) -> bool:
        if self._known.get(process.pid) == process.start:
            return True
        if self._strangers.get(process.pid) == process.start:
            return False
        environment = proc.environment_of(process.pid)
        if has_marker(environment, self._marker):
            return True
        if environment:
            self._strangers[process.pid] = process.start
        return False


def has_marker(environment: bytes, marker: bytes) -> bool:
    """Whether an environment contains the marker, alone or among those of outer and inner trees."""
    name = MARKER.encode() + b"="
    for entry in environment.split(b"\0"):
        if entry.startswith(name):
            return marker in entry[len(name) :].split(b":")
    return False


def add_marker(environment: dict[str, str], marker: str) -> dict[str, str]:
    """The environment for the root of a tree."""
    outer = environment.get(MARKER)
    return {**environment, MARKER: f"{outer}:{marker}" if outer else marker}


def without_marker(environment: dict[str, str]) -> dict[str, str]:
    """The environment for a process that starts a tree without belonging to it; markers of outer trees stay."""
    outer = environment.get(MARKER, "").rpartition(":")[0]
    rest = {name: value for name, value in environment.items() if name != MARKER}
    return {**rest, MARKER: outer} if outer else rest


RESERVED = 300
"""Pids that the kernel assigns only once after boot."""


class PidCount(NamedTuple):
    """The state of the kernel's pid assignment: the newest pid, the count since boot, threads, the largest pid."""

    newest: int
    given: int
    threads: int
    most: int

    def reused(self, now: PidCount) -> range | None:
        """The pids that may belong to different processes by `now`; None: any.

        Pids are assigned in increasing order, then again from the lowest, skipping those in use: a thread keeps its own
        and those of its group and session. If all of these are too few to wrap around, it did not wrap around.
        """
        given = now.given - self.given
        around = given < 0 or 4 * (given + self.threads) > self.most - RESERVED
        return None if around or now.newest < self.newest else range(self.newest + 1, now.newest + 1)


def count_pids() -> PidCount | None:
    """The current state; None if the kernel does not provide it."""
    newest = proc.read_bytes("/proc/sys/kernel/ns_last_pid").strip()
    given = proc.read_bytes("/proc/stat").rpartition(b"\nprocesses ")[2].partition(b"\n")[0]
    threads = proc.read_bytes("/proc/loadavg").partition(b"/")[2].partition(b" ")[0]
    most = proc.read_bytes("/proc/sys/kernel/pid_max").strip()
    if not all(number.isdigit() for number in (newest, given, threads, most)):
        return None
    return PidCount(int(newest), int(given), int(threads), int(most))


class ProcessTable:
    """A cached table of all processes: `scan`, then `cache` the strangers, then `scan` again."""

    def __init__(self) -> None:
        self._cached: dict[int, Process] = {}
        self._counted: PidCount | None = None

    def scan(self) -> dict[int, Process]:
        """Every process that is not dead, by pid. Group and session of cached strangers may be outdated."""
        before = count_pids()
        table = proc.read_processes(self._cached)
        after, cached = count_pids(), self._cached
        reused = self._counted.reused(after) if self._counted is not None and after is not None else None
        # Parents are cached before children.
        for pid, process in cached.items():
            if pid not in table:
                continue
            parent = process.parent
            other = parent > 1 and table.get(parent) is not cached.get(parent)
            if other or reused is None or pid in reused:
                fresh = proc.read_process(pid)
                if fresh is None or fresh.dead:
                    del table[pid]
                else:
                    table[pid] = fresh
        self._counted = before
        return table

    def cache(self, strangers: Iterable[Process]) -> None:
        """Cache the strangers of the last scan whose ancestors are all cached."""
        found, before = list(strangers), self._cached
        if len(before) == len(found) and all(before.get(process.pid) is process for process in found):
            return
        cached: dict[int, Process] = {}
        for process in sorted(found, key=lambda each: (each.start, each.pid)):
            if process.parent <= 1 or process.parent in cached:
                cached[process.pid] = process
        self._cached = cached
