"""Foreground: the terminal of a contained command, which has a process group of its own.

The front lends it the terminal as a shell would, learns from its first process what the terminal did, and takes it back
to ask a question or to stop.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from .job_control import Signalled

TOLD = {b"interrupted": signal.SIGINT, b"stopped": signal.SIGTSTP}


class Foreground:
    """For one command. Without a terminal, or in the background, there is nothing to lend."""

    def __init__(self, events: queue.SimpleQueue[object]) -> None:
        self._queue = events
        self._told, self.events = os.pipe()
        self.group: int | None = None
        """The command's process group."""
        self._asking = threading.Lock()
        try:
            self._terminal = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY)
        except OSError:
            self._terminal = -1
        # From the background we set the terminal's group, and say something on it, without being stopped for that.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})

    @property
    def terminal(self) -> int:
        """The terminal to start the command on; -1 where it is not ours to give."""
        return self._terminal if self._is_ours() else -1

    def start(self, pid: int) -> None:
        """The command runs: learn what the terminal does to it."""
        with contextlib.suppress(ProcessLookupError):
            self.group = os.getpgid(pid)
        os.close(self.events)
        threading.Thread(target=self._hear, name="interlock-terminal", daemon=True).start()

    def give(self) -> None:
        """We were continued, or have asked what we wanted: the command continues, with the terminal if that is ours."""
        if self.group is None or self._asking.locked():
            return
        with contextlib.suppress(OSError):
            if self._is_ours():
                os.tcsetpgrp(self._terminal, self.group)
            os.killpg(self.group, signal.SIGCONT)

    def is_given(self) -> bool:
        """Whether the command has the terminal."""
        with contextlib.suppress(OSError):
            return self._terminal >= 0 and self.group is not None and os.tcgetpgrp(self._terminal) == self.group
        return False

    def claim(self) -> None:
        """Have the terminal back, where the command has it."""
        with contextlib.suppress(OSError):
            if self.is_given():
                os.tcsetpgrp(self._terminal, os.getpgrp())

    @contextmanager
    def borrowed(self) -> Iterator[None]:
        """Have the terminal for a question; a command that reads from it meanwhile waits."""
        try:
            with self._asking:
                self.claim()
                yield
        finally:
            self.give()

    def _is_ours(self) -> bool:
        try:
            return self._terminal >= 0 and os.tcgetpgrp(self._terminal) == os.getpgrp()
        except OSError:
            return False

    def _hear(self) -> None:
        with os.fdopen(self._told, "rb") as lines:
            for line in lines:
                number = TOLD.get(line.strip())
                if number is not None and not self._asking.locked():
                    self._queue.put(Signalled(number, shared=True, at=time.monotonic()))
