"""Which processes belong to a run, according to the kernel, so that a run cannot steer itself."""

from __future__ import annotations

import os
from pathlib import Path

from ..core import InvalidState
from ..process import MARKER, PREFIX, Process, TreeHandle, environment_of, has_marker, read_process, start_of


class Insiders:
    """Asked about the peer of a control connection. `tree` is the run's own, as soon as it is known."""

    def __init__(self, tree: TreeHandle | None = None) -> None:
        self.tree = tree
        self._agents: set[tuple[int, int]] = set()

    def add_agent(self, pid: int) -> None:
        """A process that was seen as the agent's own: it and everything below it is inside."""
        start = start_of(pid)
        if start is not None:
            self._agents.add((pid, start))

    def why_inside(self, pid: int) -> str:
        """How we know that a process is not a person's; empty if it is one."""
        if pid <= 0:
            # In a namespace above ours: a process there could do without us.
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

    def _by_descent(self, process: Process | None) -> str:
        tree, seen = self.tree, 0
        marker = tree.marker.encode() if tree is not None else b""
        known = set(self._agents)
        if tree is not None:
            known |= {(one.pid, one.start) for one in (tree.root, tree.keeper) if one is not None}
        while process is not None and process.pid > 1 and seen < 200:
            if (process.pid, process.start) in known:
                return "it was started by the agent"
            if marker and process.pid != os.getpid() and has_marker(environment_of(process.pid), marker):
                return "it was started by the agent"
            process, seen = read_process(process.parent), seen + 1
        return ""


def in_a_run(pid: int = 0) -> bool:
    """Whether a process, or this very one, belongs to a run, as far as its environment, cgroup and ancestors tell."""
    if (not pid and os.environ.get(MARKER)) or in_group(pid or os.getpid(), PREFIX):
        return True
    process, seen = read_process(pid or os.getppid()), 0
    while process is not None and process.pid > 1 and seen < 200:
        if f"{MARKER}=".encode() in environment_of(process.pid):
            return True
        process, seen = read_process(process.parent), seen + 1
    return False


def refuse_inside(what: str) -> None:
    """Only a person does this: InvalidState in a run. What stops an agent that hides where it is are the levels."""
    if in_a_run():
        raise InvalidState(f"an agent cannot {what}", todo="Run this in your own terminal.")


def pid_namespace(pid: int | str) -> str:
    """The namespace's name as the kernel has it; empty if we may not know."""
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return ""


def in_group(pid: int, name: str) -> bool:
    """Whether a process is in a cgroup whose folder begins like this."""
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    except OSError:
        return False
    return any(part.startswith(name) for line in lines for part in line.split(":", 2)[2].split("/"))
