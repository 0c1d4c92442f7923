"""CgroupPulse: whether anything happens in a cgroup. Asked twice a second for as long as a run lasts, so its files stay
open: to open one takes longer than to read it."""

from __future__ import annotations

import os

from .cgroup import Cgroup

MOST = 4_096
"""Bytes of a list of processes that one read gives; a longer one is read anew each time."""

LINE = 64
"""Bytes of `cpu.stat`: its first line, which says how long its processes ran."""

FEW_LINKS = 2
"""Of a folder without folders in it."""


class CgroupPulse:
    """For one cgroup, and one thread."""

    def __init__(self, group: Cgroup) -> None:
        self._group = group
        self._open: tuple[int, ...] = ()
        self._before: tuple[bytes, bytes, int] | None = None
        self._inside: frozenset[int] = frozenset()

    def beats(self) -> bool:
        """Whether a process of it has run since this was asked last, came or went; True if the kernel does not tell."""
        before, now = self._before, self._look()
        self._before = now
        if now is None or now != before or now[2] != FEW_LINKS or len(now[1]) >= MOST:
            self._inside = self._group.pids()
        return now is None or before is None or not now[0] or now[0] != before[0]

    @property
    def inside(self) -> frozenset[int]:
        """The processes in it when that was asked."""
        return self._inside

    def close(self) -> None:
        for descriptor in self._open:
            os.close(descriptor)
        self._open = ()

    def _look(self) -> tuple[bytes, bytes, int] | None:
        try:
            if not self._open:
                for name in ("cpu.stat", "cgroup.procs", ""):
                    self._open += (os.open(f"{self._group.path}/{name}", os.O_RDONLY | os.O_CLOEXEC),)
            used, processes, folder = self._open
            return os.pread(used, LINE, 0), os.pread(processes, MOST, 0), os.fstat(folder).st_nlink
        except OSError:
            self.close()
            return None
