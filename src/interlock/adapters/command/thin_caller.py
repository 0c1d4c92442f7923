"""ThinCaller: the process that was started as `interlock run`, whose work this process does (see thin_run.py).

The caller starts the command, receives the signals, and exits as the run does. If it is killed, so are we: a killed
front leaves the run to its owner.
"""

from __future__ import annotations

import contextlib
import io
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from ...core import open_memory_file
from .thin_run import is_log

_caller: ThinCaller | None = None


def thin_caller() -> ThinCaller | None:
    """The caller whose work this process does; None if this process was started directly."""
    return _caller


def forget_caller() -> None:
    """Called in a fork that does other work than the caller's."""
    global _caller
    if _caller is not None:
        sys.stderr = _caller.stderr
    _caller = None


class ThinCaller:
    """Until `accept`, we print and do nothing that an ordinary start could not repeat."""

    def __init__(self, sock: socket.socket, pid: int) -> None:
        global _caller
        self._sock, self.pid = sock, pid
        self.session = os.getsid(pid)
        self._answers: queue.SimpleQueue[tuple[bytes, int]] = queue.SimpleQueue()
        self._early: list[int] = []
        self._deliver: Callable[[int], None] = self._early.append
        self._changing = threading.Condition()
        self._ended: dict[int, int] = {}
        self.stderr = sys.stderr
        self._accepted = False
        sys.stderr = io.StringIO()
        _caller = self

    def accept(self, *, contained: bool) -> None:
        """Take over the caller's work; refuse a command that must be in the caller's process group."""
        if not contained or any(map(is_log, os.environ)):
            self.refuse()
        self._confirm()
        threading.Thread(target=self._hear, name="interlock-caller", daemon=True).start()

    def refuse(self) -> NoReturn:
        """Refuse, and exit: the caller then starts in the ordinary way."""
        with contextlib.suppress(OSError):
            self._sock.sendall(b"n")
        os._exit(0)

    def pending(self) -> set[int]:
        """Signals that arrived before `deliver`."""
        with self._changing:
            return {*self._early}

    def deliver(self, handler: Callable[[int], None]) -> None:
        """Call `handler` with every signal that the caller receives, including earlier ones."""
        with self._changing:
            self._deliver = handler
            for number in self._early:
                handler(number)

    def start(
        self, words: Sequence[str], environment: Mapping[str, str], streams: Sequence[int], fds: Sequence[int]
    ) -> CallersChild:
        """Have the caller start a process in its own group with these streams and descriptors. OSError if it cannot."""
        given = {**dict(enumerate(streams)), **{descriptor: descriptor for descriptor in fds}}
        what = open_memory_file("interlock-start")
        variables = (os.fsencode(f"{name}={value}") for name, value in environment.items())
        text = (b" ".join(b"%d" % number for number in given), b"%d" % len(words), *map(os.fsencode, words), *variables)
        try:
            with open(what, "wb", closefd=False) as file:
                file.write(b"\0".join(text))
            socket.send_fds(self._sock, [b"start\n"], [what, *given.values()])
        finally:
            os.close(what)
        word, number = self._answers.get()
        if word == b"failed":
            raise OSError(number, os.strerror(number), words[0])
        return CallersChild(self, number)

    def stop(self) -> None:
        """Stop the caller, so that the shell takes over; returns when the shell continues it."""
        self._sock.sendall(b"stop\n")
        self._answers.get()

    def leave(self, order: str) -> NoReturn:
        """Flush all output, have the caller exit, and exit."""
        if not self._accepted:
            self._confirm()
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        # A reader of our output waits until every process has closed it.
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        with contextlib.suppress(OSError):
            self._sock.sendall(f"{order}\n".encode())
        os._exit(0)

    def wait(self, pid: int, seconds: float | None) -> int | None:
        """The exit status of the caller's child; None if it is still running after `seconds`."""
        with self._changing:
            self._changing.wait_for(lambda: pid in self._ended, seconds)
            return self._ended.get(pid)

    def _confirm(self) -> None:
        """Confirm that we do the work, and print pending messages; exit if the caller started in the ordinary way."""
        try:
            self._sock.sendall(b"y")
            if self._sock.recv(len(b"go\n"), socket.MSG_WAITALL) != b"go\n":
                os._exit(0)
        except OSError:
            os._exit(0)
        said, sys.stderr, self._accepted = sys.stderr, self.stderr, True
        if isinstance(said, io.StringIO):
            with contextlib.suppress(OSError):
                sys.stderr.write(said.getvalue())
                sys.stderr.flush()

    def _hear(self) -> None:
        try:
            with contextlib.suppress(OSError), self._sock.makefile("rb") as lines:
                for line in lines:
                    word, *numbers = line.split()
                    self._handle(word, *map(int, numbers))
        finally:
            # In any case: without this thread we would not exit with the caller.
            os.kill(os.getpid(), signal.SIGKILL)

    def _handle(self, word: bytes, number: int = 0, status: int = 0) -> None:
        with self._changing:
            if word == b"signal":
                self._deliver(number)
            elif word == b"ended":
                self._ended[number] = status
                self._changing.notify_all()
            else:
                self._answers.put((word, number))


class CallersChild:
    """A process started by the caller, with the part of subprocess.Popen's interface that we use."""

    stdin = stdout = stderr = None

    def __init__(self, caller: ThinCaller, pid: int) -> None:
        self._caller, self.pid = caller, pid

    def poll(self) -> int | None:
        """None while the process runs."""
        return self._caller.wait(self.pid, 0)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status; TimeoutExpired if it is still running."""
        status = self._caller.wait(self.pid, timeout)
        if status is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
        return status
