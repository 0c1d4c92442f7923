"""Scans several files at once, a process for each, with the results in the same order as on one core."""

from __future__ import annotations

import ctypes
import multiprocessing
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from ...core import BadInput, InterlockError
from .lines import LineError
from .scan import Scanned, TraceScanner

PR_SET_PDEATHSIG = 1
AHEAD = 2
"""Files in progress per process: enough to keep it busy, few enough to bound memory."""

Result = Scanned | LineError | BadInput


class ParallelScanner:
    """Same results in the same order as a `TraceScanner`, from several processes."""

    def __init__(self, processes: int, scanner: Callable[[], TraceScanner]) -> None:
        self.steps = 0
        self._ahead = AHEAD * processes
        fork = multiprocessing.get_context("fork")
        self._pool = ProcessPoolExecutor(processes, mp_context=fork, initializer=_start, initargs=(scanner,))

    def scan(self, files: list[str]) -> Iterator[tuple[str, Result]]:
        """Each result with its file; BadInput for a file that cannot be opened."""
        under_way: deque[Future[tuple[list[tuple[str, Result]], int]]] = deque()
        left = deque(files)
        try:
            while left or under_way:
                while left and len(under_way) < self._ahead:
                    under_way.append(self._pool.submit(_scan, left.popleft()))
                results, steps = under_way.popleft().result()
                self.steps += steps
                yield from results
        except BrokenProcessPool:
            raise InterlockError(
                "a process of the scan was killed", todo="Free some memory, or scan on one core with --jobs 1."
            ) from None
        finally:
            self._pool.shutdown(cancel_futures=True)


_scanner: TraceScanner


def _start(scanner: Callable[[], TraceScanner]) -> None:
    global _scanner
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        # If a scan is killed, its processes are killed, too, instead of waiting for files forever.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _scanner = scanner()


def _scan(name: str) -> tuple[list[tuple[str, Result]], int]:
    """The results of a file, and the number of its steps."""
    before = _scanner.steps
    return list(_scanner.scan([name])), _scanner.steps - before
