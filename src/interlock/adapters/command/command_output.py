"""CommandOutput: the front's side of the copier process, which copies everything that the command prints.

The command writes to a pipe, or to a pty if our own output is a terminal. It reads directly from our terminal, which
sends it signals. We keep both ends open so that a new copier can continue if one is killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import subprocess
import termios
import threading
from pathlib import Path

from ...core import own_command, widen_pipe
from ...output import STDERR, STDOUT, TERMINAL, flags_of

COPIER = "interlock.output.copier"

PIPE_BYTES = 1024 * 1024
"""Capacity of the pipe: output that its reader has not read yet."""

RESTARTS = 5
"""How many times a killed copier is restarted."""

DRAIN_S = 5.0
"""How long to wait for the reader of the output when the command has ended. The copier continues without us."""


class CommandOutput:
    """The command's `stdout` and `stderr`; None means that it inherits ours. `steps` is passed to the copier."""

    def __init__(self, folder: Path, bound: int, steps: str = "") -> None:
        self.stdout: int | None = None
        self.stderr: int | None = None
        self._folder, self._bound, self._steps = folder, bound, steps
        self._sources: list[tuple[str, int, int]] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._drained = threading.Event()
        self._starts = 0

    @property
    def terminal(self) -> Path | None:
        """The terminal that the command writes to, if any."""
        found = (os.ttyname(each) for each in (self.stdout, self.stderr) if each is not None and os.isatty(each))
        return next(map(Path, found), None)

    def start(self) -> None:
        """Start a copier. If that fails, the command inherits our streams and its output is not stored."""
        if not self._bound:
            return
        try:
            self.stdout = self._open(STDOUT, 1)
            self.stderr = self.stdout if _are_same(1, 2) else self._open(STDERR, 2)
            self._launch()
        except OSError:
            self.stdout = self.stderr = None
            self._close_sources()

    def started(self) -> None:
        """Close our copies of the command's ends after it has been started."""
        for descriptor in {self.stdout, self.stderr} - {None}:
            os.close(descriptor)  # type: ignore[arg-type]

    def drain(self) -> None:
        """After the command has ended: wait until its output is copied and stored."""
        if self._control is None:
            return
        with contextlib.suppress(OSError):
            self._control.sendall(b"e")
            self._drained.wait(DRAIN_S)
        self._close_sources()

    def _open(self, name: str, sink: int) -> int:
        if os.isatty(sink):
            source, given, settings = _open_terminal(sink)
            name = f"{TERMINAL}={settings}"
        else:
            source, given = os.pipe()
            with contextlib.suppress(OSError):
                # Unprivileged users have a limit for large pipes.
                widen_pipe(given, PIPE_BYTES)
        self._sources.append((name, source, sink))
        return given

    def _launch(self) -> None:
        self._starts += 1
        here, there = socket.socketpair()
        words = [str(word) for each in self._sources for word in each]
        arguments = [str(there.fileno()), str(self._bound), str(self._folder), self._steps, *words]
        handed = (there.fileno(), *(source for _, source, _ in self._sources))
        with there:
            command = own_command(COPIER, *arguments)
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=handed)
        self._control = here
        threading.Thread(target=self._hear, args=(here, self._process), name="interlock-output", daemon=True).start()

    def _hear(self, control: socket.socket, process: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(OSError), control.makefile("rb") as lines:
            for line in lines:
                word, _, number = line.partition(b" ")
                if word == b"closed":
                    os.close(self._sources[int(number)][1])
                else:
                    self._drained.set()
        if process.wait() and self._starts <= RESTARTS and not self._drained.is_set():
            self._launch()

    def _close_sources(self) -> None:
        for _, source, _ in self._sources:
            with contextlib.suppress(OSError):
                os.close(source)
        self._sources.clear()


def _are_same(one: int, other: int) -> bool:
    first, second = os.fstat(one), os.fstat(other)
    return (first.st_dev, first.st_ino, first.st_rdev) == (second.st_dev, second.st_ino, second.st_rdev)


def _open_terminal(sink: int) -> tuple[int, int, str]:
    """Open a pty with our terminal's settings but no output processing; returns both ends and the settings as text."""
    master, slave = os.openpty()
    settings = termios.tcgetattr(sink)
    settings[1] &= ~termios.OPOST
    termios.tcsetattr(slave, termios.TCSANOW, settings)
    fcntl.ioctl(slave, termios.TIOCSWINSZ, fcntl.ioctl(sink, termios.TIOCGWINSZ, bytes(8)))
    return master, slave, ":".join(map(str, flags_of(termios.tcgetattr(slave))))
