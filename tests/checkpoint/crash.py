"""A child process that kills itself at a chosen point of an operation."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable


def count_points(act: Callable[[], object]) -> int:
    """How many points an operation has: every call out of Python counts as one."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            tracer = _Tracer(None)
            act()
            os.write(write, str(tracer.stop()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with open(read) as answer:
        text = answer.read()
    assert os.waitpid(pid, 0)[1] == 0, "the operation failed in the child"
    return int(text)


def run_and_kill(act: Callable[[], object], at: int) -> bool:
    """Run an operation in a child that is killed (SIGKILL) at the given point; False if it ended before."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            _Tracer(at)
            act()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, "the operation failed in the child"
    return False


class _Tracer:
    """Counts calls into C in every thread, and kills the process at one of them."""

    def __init__(self, at: int | None) -> None:
        self._at, self._count = at, 0
        threading.setprofile(self._see)
        sys.setprofile(self._see)

    def stop(self) -> int:
        sys.setprofile(None)
        threading.setprofile(None)
        return self._count

    def _see(self, frame: object, event: str, what: object) -> None:
        if event in ("c_call", "c_return"):
            self._count += 1
            if self._count == self._at:
                os.kill(os.getpid(), signal.SIGKILL)
