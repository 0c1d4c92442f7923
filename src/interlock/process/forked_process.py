"""A fork in place of a new interpreter: it has imported what it needs, and shares memory that it does not change."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading


class Forked:
    """A child, with what subprocess.Popen offers as far as we use it; in any thread."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._status: int | None = None
        self._reaping = threading.Lock()

    def poll(self) -> int | None:
        """None while it lives; minus a signal where one ended it."""
        with self._reaping:
            if self._status is None:
                try:
                    pid, status = os.waitpid(self.pid, os.WNOHANG)
                except ChildProcessError:
                    # Somebody else has reaped it, and knows how it ended.
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
        """Nothing, where it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


def can_fork() -> bool:
    """Whether this is our only thread: what others have locked would stay locked in a fork."""
    try:
        return len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208  before anything else is imported
    except OSError:
        return False


def fork() -> Forked | None:
    """Our child; None in itself, which then says with `settle_in` what it is, and does not return to our work."""
    # What is there now is never looked through again, here or there: so it stays shared.
    gc.freeze()
    pid = os.fork()
    return Forked(pid) if pid else None


def settle_in(module: str, streams: tuple[int, int, int], keep: tuple[int, ...]) -> None:
    """In a fork: be listed as `python -m module`, with these streams and descriptors and no others."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not sys.flags.safe_path:
        # As with -P: nothing from the workspace may be imported in place of our own modules.
        del sys.path[:1]
    _set_streams(streams)
    _close_all_but(keep)
    rename_process([sys.executable or "python3", "-P", "-m", module])


def _set_streams(streams: tuple[int, int, int]) -> None:
    # Copies first: one of them may already have the number of another.
    copies = [os.dup(stream) for stream in streams]
    for number, copy in enumerate(copies):
        os.dup2(copy, number)


def _close_all_but(keep: tuple[int, ...]) -> None:
    kept = sorted({2, *keep})
    for below, above in zip(kept, [*kept[1:], os.sysconf("SC_OPEN_MAX")], strict=True):
        os.closerange(below + 1, above)


def rename_process(words: list[str]) -> None:
    """Stand in lists of processes with these words, as far as there is room for them where our arguments were."""
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
