"""Forks instead of starting a new interpreter: the fork's imports are done, and it shares unchanged memory."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading


class Forked:
    """A child process, with the part of subprocess.Popen's interface that we use. Thread-safe."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._status: int | None = None
        self._reaping = threading.Lock()

    def poll(self) -> int | None:
        """None while it runs; negative if a signal ended it."""
        with self._reaping:
            if self._status is None:
                try:
                    pid, status = os.waitpid(self.pid, os.WNOHANG)
                except ChildProcessError:
                    # Another thread reaped it, so its status is unknown.
                    pid, status = self.pid, 0
                if pid:
                    self._status = os.waitstatus_to_exitcode(status)
            return self._status

    def wait(self) -> int:
        while (status := self.poll()) is None:
            if sys.platform == "linux":
                with contextlib.suppress(ChildProcessError):
                    os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


def can_fork() -> bool:
    """Whether this is the only thread: locks held by other threads would stay locked in a fork."""
    try:
        return len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208  before anything else is imported
    except OSError:
        return False


def fork() -> Forked | None:
    """Fork: returns the child; None in the child itself, which calls `settle_in` and must not continue our work."""
    # The garbage collector never scans existing objects again, in either process, so their memory stays shared.
    gc.freeze()
    pid = os.fork()
    return Forked(pid) if pid else None


def settle_in(module: str, streams: tuple[int, int, int], keep: tuple[int, ...]) -> None:
    """In a fork: become `python -m module` in process lists, with only these streams and descriptors."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not sys.flags.safe_path:
        # Same as -P: never import modules from the workspace in place of our own.
        del sys.path[:1]
    _set_streams(streams)
    _close_all_but(keep)
    rename_process([sys.executable or "python3", "-P", "-m", module])


def _set_streams(streams: tuple[int, int, int]) -> None:
    # Copy them first: one may already have the number of another.
    copies = [os.dup(stream) for stream in streams]
    for number, copy in enumerate(copies):
        os.dup2(copy, number)


def _close_all_but(keep: tuple[int, ...]) -> None:
    kept = sorted({2, *keep})
    for below, above in zip(kept, [*kept[1:], os.sysconf("SC_OPEN_MAX")], strict=True):
        os.closerange(below + 1, above)


def rename_process(words: list[str]) -> None:
    """Change the command line shown in process lists, if the words fit into the space of our arguments."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open("/proc/self/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        start, end = int(fields[45]), int(fields[46])
        for line in (b"\0".join(map(os.fsencode, each)) + b"\0" for each in (words, ["python", *words[-2:]])):
            if 0 < start < end and len(line) <= end - start:
                memory = os.open("/proc/self/mem", os.O_WRONLY | os.O_CLOEXEC)
                try:
                    os.pwrite(memory, line.ljust(end - start, b"\0"), start)
                finally:
                    os.close(memory)
                return
