"""Job control for the front: it stands in for the command before the shell, and takes nothing from the command.

The command is in our process group, so that the kernel itself hands it Ctrl-C, Ctrl-Z and window sizes.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import termios
import threading
import time
from collections.abc import Callable

from msgspec import Struct

from ...process.proc import look_at

STOP_S = 0.5
"""How long a command may take to stop after Ctrl-Z."""

WAITED_FOR = (
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGTSTP,
    signal.SIGCHLD,
    signal.SIGALRM,
)
FROM_TERMINAL = 0x80
"""si_code of a signal that the kernel sent, to everyone in the foreground."""


class Signalled(Struct, frozen=True):
    """A signal that came, and when; `shared` says that the command got it too."""

    number: int
    shared: bool
    at: float = 0.0


class Signals:
    """Takes signals in a thread of its own and puts them into `events`. Those that were ignored stay ignored."""

    def __init__(self, events: queue.SimpleQueue[object]) -> None:
        self._events = events
        self._wanted = {number for number in WAITED_FOR if signal.getsignal(number) is not signal.SIG_IGN}
        signal.pthread_sigmask(signal.SIG_BLOCK, self._wanted)

    def start(self) -> None:
        threading.Thread(target=self._take, name="interlock-signals", daemon=True).start()

    def _take(self) -> None:
        while True:
            info = signal.sigwaitinfo(self._wanted)
            self._events.put(Signalled(info.si_signo, info.si_code == FROM_TERMINAL, time.monotonic()))


def stop_ourselves() -> None:
    """Stop as the command did, so that the shell takes the terminal back; returns when the shell continues us."""
    previous = signal.getsignal(signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP})
    os.kill(os.getpid(), signal.SIGTSTP)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTSTP})
    signal.signal(signal.SIGTSTP, previous)


def stop_with(pid: int, *, wait: bool) -> None:
    """Stop when the command has: it may take a moment to put its screen away, or not stop at all."""
    deadline = time.monotonic() + (STOP_S if wait else 0.0)
    while True:
        root = look_at(pid)
        if root is None or root.dead:
            return
        if root.stopped:
            stop_ourselves()
            return
        if time.monotonic() >= deadline:
            return
        time.sleep(0.01)


def die_of(number: int) -> None:
    """End by the signal that ended the command: a shell treats a script differently then."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)


def keep_settings() -> Callable[[], None]:
    """Remember how the terminal is set; what is returned sets it like that again."""
    try:
        descriptor = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY)
        settings = termios.tcgetattr(descriptor)
    except (OSError, termios.error):
        return lambda: None

    def restore() -> None:
        # From the background this would stop us.
        if os.tcgetpgrp(descriptor) == os.getpgrp():
            termios.tcsetattr(descriptor, termios.TCSADRAIN, settings)

    return restore


def fill_standard_streams() -> None:
    """Open what we were started without: else the next socket would be somebody's standard input."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number is this one.
            os.open(os.devnull, os.O_RDWR)


def is_terminal() -> bool:
    """Whether people read what we say."""
    return sys.stderr.isatty()
