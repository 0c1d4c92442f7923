"""Job control for the front: it stands in for the command to the shell, without interfering with the command.

The command is in our process group, so that the kernel itself sends it Ctrl-C, Ctrl-Z and window sizes.
"""

from __future__ import annotations

import contextlib
import os
import queue
import resource
import signal
import termios
import threading
import time
from collections.abc import Callable

from msgspec import Struct

from ...core import reports_stop, wait_for_signal
from ...process import read_process

STOP_S = 0.5
"""How long a command may take to stop after Ctrl-Z."""

WAITED_FOR = (
    signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGTSTP,
    signal.SIGCHLD, signal.SIGALRM,
)  # fmt: skip
FROM_TERMINAL = 0x80
"""si_code of a signal that the kernel sent to the whole foreground process group."""


class Signalled(Struct, frozen=True):
    """A received signal, and when it arrived; `shared`: the command got it too."""

    number: int
    shared: bool
    at: float = 0.0


class Signals:
    """Receives signals in its own thread and puts them into `events`. Ignored ones stay ignored.

    With `own_group` the command is in another process group and does not receive our signals.
    """

    def __init__(self, events: queue.SimpleQueue[object], *, own_group: bool = False) -> None:
        self._events, self._own_group = events, own_group
        waited_for = (*WAITED_FOR, signal.SIGCONT) if own_group else WAITED_FOR
        self._wanted = {number for number in waited_for if signal.getsignal(number) is not signal.SIG_IGN}
        signal.pthread_sigmask(signal.SIG_BLOCK, self._wanted)

    def pending(self) -> set[int]:
        """Signals that arrived before `start`."""
        return {*signal.sigpending()}

    def start(self) -> None:
        threading.Thread(target=self._record, name="interlock-signals", daemon=True).start()

    def _record(self) -> None:
        while True:
            number, code = wait_for_signal(self._wanted)
            shared = code == FROM_TERMINAL and not self._own_group
            self._events.put(Signalled(number, shared, time.monotonic()))


def stop_ourselves() -> bool:
    """Stop like the command did, so that the shell gets the terminal back; returns when the shell continues us.

    Uses SIGSTOP, as SIGTSTP goes to the thread that receives signals. Does nothing without a shell to continue us.
    """
    if not _has_shell(os.getpid()):
        return False
    # Sent to this thread: another one could receive it later, while we keep running.
    signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
    return True


def _has_shell(pid: int) -> bool:
    """Whether an ancestor in its session has another process group, so that its own group is not orphaned."""
    us = parent = read_process(pid)
    while parent is not None and us is not None and parent.session == us.session:
        if parent.group != us.group:
            return True
        parent = read_process(parent.parent)
    return False


def stop_with(pid: int, *, wait: bool) -> bool:
    """Stop once the command has stopped: it may restore the screen first, or not stop at all.

    Returns whether we were stopped, and continued.
    """
    deadline = time.monotonic() + (STOP_S if wait else 0.0)
    while True:
        root = read_process(pid)
        if root is None or root.dead:
            return False
        if root.stopped and _is_news(pid):
            return stop_ourselves()
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.01)


def _is_news(pid: int) -> bool:
    """Whether this stop is new: a shell continues us first, then the command."""
    try:
        return reports_stop(pid)
    except ChildProcessError:
        # Its parent is a keeper process; we learn of a stop only by Ctrl-Z.
        return True


def pass_on(pid: int, number: int) -> None:
    """Forward a signal that was sent to us only."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def die_of(number: int) -> None:
    """End by the signal that ended the command, because shells treat that differently from an exit."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)


def keep_settings() -> Callable[[], None]:
    """Save the terminal's settings; returns a function that restores them."""
    try:
        descriptor = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY)
        settings = termios.tcgetattr(descriptor)
    except (OSError, termios.error):
        return lambda: None

    def restore() -> None:
        # From the background, this would stop us.
        if os.tcgetpgrp(descriptor) == os.getpgrp():
            termios.tcsetattr(descriptor, termios.TCSADRAIN, settings)

    return restore


def fill_standard_streams() -> None:
    """Open missing standard streams; otherwise the next socket would become one."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            # `open` returns the lowest free number, which is this one.
            os.open(os.devnull, os.O_RDWR)
