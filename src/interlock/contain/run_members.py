"""Tells which processes belong to a run, according to the kernel, so that a run cannot steer itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..core import InvalidState
from ..process import MARKER, PREFIX, Process, TreeHandle, environment_of, has_marker, read_process, start_of


class RunMembers:
    """Identifies the peers of control connections. `tree` is the run's own, once it is known."""

    def __init__(self, tree: TreeHandle | None = None) -> None:
        self.tree = tree
        self._agents: set[tuple[int, int]] = set()

    def add_agent(self, pid: int) -> None:
        """Add a process of the agent: it and its descendants are inside."""
        start = start_of(pid)
        if start is not None:
            self._agents.add((pid, start))

    def why_inside(self, pid: int) -> str:
        """Why a process belongs to the agent; empty if it is a person's."""
        if pid <= 0:
            # In an outer PID namespace: a process there does not need us.
            return ""
        process = read_process(pid)
        if process is None or process.dead:
            return "it has ended, and cannot be distinguished from the agent's own processes"
        if (theirs := pid_namespace(pid)) and theirs != pid_namespace("self"):
            return "it is in a PID namespace of its own"
        tree = self.tree
        if tree is not None and tree.group and in_group(pid, Path(tree.group).name):
            return "it is in the run's cgroup"
        return self._by_descent(process)

    def _by_descent(self, process: Process) -> str:
        tree = self.tree
        marker = tree.marker.encode() if tree is not None else b""
        known = set(self._agents)
        if tree is not None:
            known |= {(one.pid, one.start) for one in (tree.root, tree.keeper) if one is not None}
        for each in _with_ancestors(process):
            if (each.pid, each.start) in known or (
                marker and each.pid != os.getpid() and has_marker(environment_of(each.pid), marker)
            ):
                return "it was started by the agent"
        return ""


def in_a_run(pid: int = 0) -> bool:
    """Whether a process, by default this one, belongs to a run, by its environment, cgroup and ancestors."""
    if (not pid and os.environ.get(MARKER)) or in_group(pid or os.getpid(), PREFIX):
        return True
    ancestors = _with_ancestors(read_process(pid or os.getppid()))
    return any(f"{MARKER}=".encode() in environment_of(process.pid) for process in ancestors)


def _with_ancestors(process: Process | None) -> Iterator[Process]:
    """A process and its ancestors below init; bounded, as pids are reused."""
    seen = 0
    while process is not None and process.pid > 1 and seen < 200:
        yield process
        process, seen = read_process(process.parent), seen + 1


def refuse_inside(what: str) -> None:
    """Raise InvalidState in a run: only a person may do this. Against an agent that hides, containment levels help."""
    if in_a_run():
        raise InvalidState(f"an agent cannot {what}", todo="Run this in your own terminal.")


def pid_namespace(pid: int | str) -> str:
    """The name of a process's PID namespace; empty if we may not read it."""
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return ""


def in_group(pid: int, name: str) -> bool:
    """Whether a process is in a cgroup whose folder starts with this name."""
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    except OSError:
        return False
    return any(part.startswith(name) for line in lines for part in line.split(":", 2)[2].split("/"))
