"""Family: all processes that came from one root, however they tried to leave it."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from . import proc
from .handle import TreeHandle
from .proc import Process

MARKER = "INTERLOCK_TREE"
"""The environment variable that every process of a tree inherits; trees inside trees are joined by colons."""


class Family:
    """Finds the members anew at every look; whoever was a member once stays one.

    A process belongs to the family if it is the root, if its parent belongs, if it carries the marker, or if it is in
    a session that a member opened. Orphans go to the keeper, where there is one, so that even a process that forked
    twice, called setsid and emptied its environment has a parent that tells whose it is.
    """

    def __init__(self, handle: TreeHandle) -> None:
        self._handle = handle
        self._marker = handle.marker.encode()
        self._same_boot = handle.boot == proc.boot_id()
        self._known: dict[int, int] = {handle.root.pid: handle.root.start}
        self._strangers: dict[int, int] = {}
        self._looking = threading.Lock()

    @property
    def keeper(self) -> int | None:
        """The pid of the keeper while it lives."""
        keeper = self._handle.keeper
        return keeper.pid if keeper and self._same_boot and keeper.there() else None

    def look(self, seeds: Iterable[int] = ()) -> tuple[dict[int, Process], dict[int, Process]]:
        """The members that are not dead, parents before their children, and everything else on the machine.

        `seeds` are pids known to belong from elsewhere, such as a cgroup.
        """
        with self._looking:
            table = proc.look_around()
            if not self._same_boot:
                return {}, table
            members = self._gather(table, set(seeds))
            ordered = dict(sorted(members.items(), key=lambda item: item[1].start))
            self._known = {pid: process.start for pid, process in ordered.items()}
            others = {pid: process for pid, process in table.items() if pid not in members}
            self._strangers = {pid: p.start for pid, p in others.items() if self._strangers.get(pid) == p.start}
            return ordered, others

    def _gather(self, table: dict[int, Process], seeds: set[int]) -> dict[int, Process]:
        keeper = self.keeper
        children: dict[int, list[int]] = {}
        sessions: dict[int, list[int]] = {}
        for process in table.values():
            children.setdefault(process.parent, []).append(process.pid)
            sessions.setdefault(process.session, []).append(process.pid)
        members: dict[int, Process] = {}
        open_ends = [p.pid for p in table.values() if p.pid in seeds or self._belongs(p)]
        open_ends += children.get(keeper, []) if keeper else []
        inherited = self._handle.session
        while open_ends:
            pid = open_ends.pop()
            if pid in members or pid == keeper or pid not in table:
                continue
            members[pid] = table[pid]
            open_ends += children.get(pid, [])
            if table[pid].session != inherited:
                open_ends += sessions.pop(table[pid].session, [])
        return members

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
    """Whether an environment carries the marker, alone or among those of outer and inner trees."""
    name = MARKER.encode() + b"="
    for entry in environment.split(b"\0"):
        if entry.startswith(name):
            return marker in entry[len(name) :].split(b":")
    return False


def add_marker(environment: dict[str, str], marker: str) -> dict[str, str]:
    """The environment for the root of a tree."""
    outer = environment.get(MARKER)
    return {**environment, MARKER: f"{outer}:{marker}" if outer else marker}
