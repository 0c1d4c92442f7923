"""Foreground: gives the terminal to a contained command, which has its own process group.

The front lends the terminal as a shell would, learns of the terminal's signals from the command's first process, and
takes the terminal back to ask a question or to stop.
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

SIGNAL_OF = {b"interrupted": signal.SIGINT, b"stopped": signal.SIGTSTP}


class Foreground:
    """For one command. Does nothing without a terminal, or in the background."""

    def __init__(self, events: queue.SimpleQueue[object]) -> None:
        self._queue = events
        self._reports, self.events = os.pipe()
        self.group: int | None = None
        """The command's process group."""
        self._asking = threading.Lock()
        try:
            self._terminal = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY)
        except OSError:
            self._terminal = -1
        # Allows us to set the terminal's group, and to write from the background, without being stopped.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})

    @property
    def terminal(self) -> int:
        """The terminal to start the command on; -1 if it is not ours."""
        return self._terminal if self._is_ours() else -1

    def start(self, pid: int) -> None:
        """The command is running: receive the terminal's signals from its first process."""
        with contextlib.suppress(ProcessLookupError):
            self.group = os.getpgid(pid)
        os.close(self.events)
        threading.Thread(target=self._hear, name="interlock-terminal", daemon=True).start()

    def give(self) -> None:
        """Continue the command, with the terminal if it is ours."""
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
        """Take the terminal back from the command."""
        with contextlib.suppress(OSError):
            if self.is_given():
                os.tcsetpgrp(self._terminal, os.getpgrp())

    @contextmanager
    def borrowed(self) -> Iterator[None]:
        """Take the terminal for a question; a command that reads from it has to wait."""
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
        with os.fdopen(self._reports, "rb") as lines:
            for line in lines:
                number = SIGNAL_OF.get(line.strip())
                if number is not None and not self._asking.locked():
                    self._queue.put(Signalled(number, shared=True, at=time.monotonic()))
