"""ChildProcesses: what an agent's tools start from this process, found again by a mark in the environment."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ...core import boot_id
from ...process import MARKER, ProcessId, ProcessTree, TreeHandle, attach
from ..run_process_tree import HeldTree

_MARKING = threading.Lock()


class ChildProcesses(HeldTree):
    """Whatever is started while a call runs belongs to the run, also what left its parent.

    This process itself never does. Calls of two runs that overlap in one process mark each other's processes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.marker = secrets.token_hex(8)
        self._calls = 0
        nobody = ProcessId(-1, -1)
        self.attach(attach(TreeHandle(marker=self.marker, boot=boot_id(), root=nobody, session=os.getsid(0))))

    @contextmanager
    def marked(self) -> Iterator[None]:
        """Mark every process that starts meanwhile."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def pids(self) -> tuple[int, ...]:
        """Those that are alive."""
        tree: ProcessTree | None = self.tree
        return tree.pids() if tree is not None else ()

    def _count(self, by: int) -> None:
        with _MARKING:
            before, self._calls = self._calls, self._calls + by
            if before and self._calls:
                return
            marks = [mark for mark in os.environ.get(MARKER, "").split(":") if mark and mark != self.marker]
            if self._calls:
                marks.append(self.marker)
            if marks:
                os.environ[MARKER] = ":".join(marks)
            else:
                os.environ.pop(MARKER, None)
