"""Cgroup: the cgroup v2 folder of a process tree, and whether anything runs in it. A removed one counts as empty."""

from __future__ import annotations

import os
import select
import signal
import time
from pathlib import Path

from . import proc
from .cgroup_hierarchy import write_control


class Cgroup:
    """Freezes, thaws and kills all processes in one cgroup, including any that they forked."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def freeze(self, seconds: float) -> bool:
        """Freeze; returns True when the kernel confirms that every process is stopped (or none is left)."""
        return self._set_freeze("1", seconds)

    def confirmed(self) -> bool:
        """Whether the kernel confirms that every process is stopped."""
        return self._event("frozen") == "1" or not self.path.exists()

    def stuck(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """While frozen: the processes that still run, and those that wait in the kernel and stop before they
        run again."""
        states = {pid: proc.thread_states(pid) for pid in self.pids()}
        running = tuple(pid for pid, threads in states.items() if "R" in threads)
        return running, tuple(pid for pid, threads in states.items() if "D" in threads)

    def thaw(self, seconds: float) -> bool:
        return self._set_freeze("0", seconds)

    @property
    def frozen(self) -> bool:
        """Whether the cgroup is frozen, no matter by whom."""
        return self._read("cgroup.freeze").strip() == "1"

    def kill(self, seconds: float) -> bool:
        """Kill all processes, frozen or not; True when the cgroup is empty."""
        deadline = time.monotonic() + seconds
        if not write_control(self.path / "cgroup.kill", "1"):
            # Before Linux 5.14: frozen processes cannot fork, and SIGKILL reaches them.
            self.freeze(seconds / 2)
            while (pids := self.pids()) and time.monotonic() < deadline:
                for pid in pids:
                    proc.send_now(pid, signal.SIGKILL)
                time.sleep(0.001)
        return self.wait_empty(max(0.0, deadline - time.monotonic()))

    def wait_empty(self, seconds: float) -> bool:
        return self._wait("populated", "0", seconds)

    def populated(self) -> bool:
        return self._event("populated") == "1"

    def pids(self) -> frozenset[int]:
        """All processes in the cgroup and in the cgroups inside it."""
        found = {int(pid) for pid in proc.read_bytes(f"{self.path}/cgroup.procs").split()}
        for folder in self._groups_inside():
            found.update(int(pid) for pid in proc.read_bytes(f"{folder}/cgroup.procs").split())
        return frozenset(found)

    def _groups_inside(self) -> list[str]:
        try:
            # A folder has two links, and one more per subfolder: usually there are none, and this is called often.
            if os.stat(self.path).st_nlink == 2:  # noqa: PTH116
                return []
        except OSError:
            return []
        return [folder for folder, _, _ in os.walk(self.path)][1:]

    def cpu_seconds(self) -> float:
        return int(self._table("cpu.stat").get("usage_usec", 0)) / 1e6

    def _set_freeze(self, value: str, seconds: float) -> bool:
        if not write_control(self.path / "cgroup.freeze", value):
            return not self.path.exists()
        return self._wait("frozen", value, seconds)

    def _wait(self, key: str, value: str, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        try:
            descriptor = os.open(self.path / "cgroup.events", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return True
        poller = select.poll()
        poller.register(descriptor, select.POLLPRI)
        try:
            while True:
                text = os.pread(descriptor, 4096, 0).decode()
                if f"{key} {value}" in text.splitlines():
                    return True
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                poller.poll(left * 1000)
        except OSError:
            return True
        finally:
            os.close(descriptor)

    def _event(self, key: str) -> str:
        return self._table("cgroup.events").get(key, "")

    def _table(self, name: str) -> dict[str, str]:
        """Parse a file with a name and a value on each line."""
        rows = (line.partition(" ") for line in self._read(name).splitlines())
        return {key: value for key, _, value in rows}

    def _read(self, name: str) -> str:
        return proc.read_bytes(f"{self.path}/{name}").decode()


MOST = 4_096
"""The most bytes of a process list that one read returns; a longer list is read completely each time."""

LINE = 64
"""Bytes of `cpu.stat` to read: its first line, the CPU time of its processes."""

FEW_LINKS = 2
"""The number of links of a folder without subfolders."""


class CgroupPulse:
    """Detects activity in one cgroup; for one thread."""

    def __init__(self, group: Cgroup) -> None:
        self._group = group
        self._open: tuple[int, ...] = ()
        self._before: tuple[bytes, bytes, int] | None = None
        self.inside: frozenset[int] = frozenset()
        """The processes in the cgroup at the last `beats`."""

    def beats(self) -> bool:
        """Whether a process in the cgroup ran, started or ended since the last call; True if unknown."""
        before, now = self._before, self._read()
        self._before = now
        if now is None or now != before or now[2] != FEW_LINKS or len(now[1]) >= MOST:
            self.inside = self._group.pids()
        return now is None or before is None or not now[0] or now[0] != before[0]

    def close(self) -> None:
        for descriptor in self._open:
            os.close(descriptor)
        self._open = ()

    def _read(self) -> tuple[bytes, bytes, int] | None:
        try:
            if not self._open:
                for name in ("cpu.stat", "cgroup.procs", ""):
                    self._open += (os.open(f"{self._group.path}/{name}", os.O_RDONLY | os.O_CLOEXEC),)
            used, processes, folder = self._open
            return os.pread(used, LINE, 0), os.pread(processes, MOST, 0), os.fstat(folder).st_nlink
        except OSError:
            self.close()
            return None
