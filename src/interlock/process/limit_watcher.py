"""LimitWatcher: holds a tree to limits by looking at it, where the kernel does not."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable

from ..core import Limits
from . import proc
from .outcome import LimitEvent, LimitName
from .proc import Process

INTERVAL_S = 0.1
NEAR_S = 0.02
"""From four fifths of a limit on we look this often."""

SHARE = 0.05
"""Of one core, which looking may cost on a machine with many processes."""

MB = 1024 * 1024

Look = Callable[[], list[Process]]


class LimitWatcher:
    """A thread that looks at the tree and ends what goes beyond: the largest process, or the newest ones."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._limits = Limits()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._counts: dict[LimitName, int] = {}

    def hold(self, limits: Limits) -> None:
        """Hold to max_memory_mb and max_processes of these; those that are None are not looked at."""
        self._limits = limits
        wanted = limits.max_memory_mb is not None or limits.max_processes is not None
        if wanted and self._thread is None and not self._over.is_set():
            self._thread = threading.Thread(target=self._run, name="interlock-watch", daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._over.set()
        if self._thread and self._thread is not threading.current_thread():
            self._thread.join()

    def events(self, limits: Limits) -> list[LimitEvent]:
        return [
            LimitEvent(limit=name, value=getattr(limits, name) or 0, count=count, words=_words(name, limits, count))
            for name, count in self._counts.items()
        ]

    def check(self) -> float:
        """Look once and end what is beyond a limit; how near the nearest limit is (1 = reached)."""
        processes = self._look()
        return max(self._check_memory(processes), self._check_count(processes))

    def _run(self) -> None:
        pause = INTERVAL_S
        while not self._over.wait(pause):
            begin = time.thread_time()
            pause = NEAR_S if self.check() > 0.8 else INTERVAL_S
            pause = max(pause, (time.thread_time() - begin) / SHARE)

    def _check_memory(self, processes: list[Process]) -> float:
        limit = self._limits.max_memory_mb
        if limit is None or not processes:
            return 0.0
        # Resident memory counts shared pages twice and is cheap; the exact sum is only needed above the limit.
        used = sum(p.resident_bytes for p in processes)
        if used > limit * MB:
            sizes = {p: proc.proportional_bytes(p) for p in processes}
            used = sum(sizes.values())
            if used > limit * MB:
                self._end(max(sizes, key=lambda p: sizes[p]), "max_memory_mb")
        return used / (limit * MB) if limit else 1.0

    def _check_count(self, processes: list[Process]) -> float:
        limit = self._limits.max_processes
        if limit is None:
            return 0.0
        # Threads count, as they do where the kernel holds this limit.
        count = sum(p.threads for p in processes)
        left = count
        for process in sorted(processes, key=lambda p: (p.start, p.pid), reverse=True):
            if left <= limit:
                break
            if self._end(process, "max_processes"):
                left -= process.threads
        return count / limit if limit else 1.0

    def _end(self, process: Process, limit: LimitName) -> bool:
        try:
            ended = proc.send(process.pid, process.start, signal.SIGKILL)
        except PermissionError:
            return False
        if ended:
            self._counts[limit] = self._counts.get(limit, 0) + 1
        return ended


def _words(name: LimitName, limits: Limits, count: int) -> str:
    ended = "1 process was ended" if count == 1 else f"{count} processes were ended"
    if name == "max_memory_mb":
        return f"the memory limit of {limits.max_memory_mb} MB was reached: {ended}, each the largest then"
    return f"the limit of {limits.max_processes} processes was reached: {ended}, the newest first"
