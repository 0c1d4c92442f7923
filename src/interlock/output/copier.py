"""The copier of a run: takes what its command prints to where it belongs, and has it kept.

python -m interlock.output.copier CONTROL BOUND FOLDER STEPS {NAME SOURCE SINK}...: descriptors of a socket to the
front, and for each stream of what the command writes to and where that belongs. STEPS, as MODE=SOCKET, is how steps are
found in what it prints and where they are reported. A separate process, so that the command's streams outlive front and
owner; it ends when no one can write to them any more.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import select
import signal
import socket
import struct
import sys
import termios
import threading
from pathlib import Path
from typing import Any

from .chunks import STDERR, TERMINAL, Source
from .keeper import Keeper
from .step_lines import StepLines

CHUNK = 1024 * 1024
LOOK_S = 0.5
"""How often we look whether the terminal's size or settings changed while nothing is printed."""

END_S = 0.1
"""How long a stream may take to end once the command has; then a process that it left behind holds it."""

TIOCGPTN = 0x80045430
"""Asks a pseudo-terminal for its number."""

DRAINED = b"drained\n"


class _Stream:
    """One stream: reads what the command writes, writes it where it belongs, and has it kept."""

    def __init__(self, name: str, source: int, sink: int, steps: StepLines) -> None:
        name, _, settings = name.partition("=")
        self.source, self.sink = source, sink
        self.steps = steps if name != STDERR and steps.wanted else None
        self.settings = TerminalSettings(source, sink, settings) if name == TERMINAL else None
        self.from_: Source = (name, self.settings.size if self.settings is not None else None)
        self.ended = threading.Event()
        self.drained = threading.Event()
        self._asked = False
        self._bell, self._rope = os.pipe()

    def ask(self) -> None:
        """Have `drained` set as soon as nothing is left to read."""
        self._asked = True
        os.write(self._rope, b".")

    def copy(self, keeper: Keeper) -> bool:
        """Until the command's last process has closed it; False if whoever read it is gone first."""
        try:
            while True:
                if not select.select([self.source], [], [], 0)[0]:
                    if self._asked:
                        self.drained.set()
                    if self.settings is not None:
                        self.settings.follow()
                    keys = [self.sink] if self.settings is not None and self.settings.forwards else []
                    look_s = LOOK_S if self.settings is not None else None
                    ready = select.select([self.source, self._bell, *keys], [], [], look_s)[0]
                    if self._bell in ready:
                        os.read(self._bell, 1)
                    if self.sink in ready:
                        os.write(self.source, os.read(self.sink, 4096))
                    if self.source not in ready:
                        continue
                data = os.read(self.source, CHUNK)
                if not data:
                    return True
                if self.settings is not None:
                    self.settings.follow()
                keeper.put(self.from_, data)
                if self.steps is not None:
                    self.steps.feed(data)
                    self.steps = self.steps if self.steps.wanted else None
                if not self._write(data):
                    return False
        except OSError as error:
            if error.errno != errno.EIO:  # which a terminal gives when its last writer is gone
                raise
            return True
        finally:
            self.ended.set()
            self.drained.set()

    def _write(self, data: bytes) -> bool:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self.sink, view) :]
            except BlockingIOError:
                select.select([], [self.sink], [])
            except BrokenPipeError:
                return False
            except OSError:
                # The terminal is gone, or the disk is full: the command continues, and is kept.
                return True
        return True


class TerminalSettings:
    """Keeps the terminal that the command writes to, and the one that a person sees, alike.

    The command reads from the person's terminal itself, and the kernel signals it from there; but programs also set and
    ask the one that they write to.
    """

    def __init__(self, inner: int, outer: int, settings: str) -> None:
        self._inner, self._outer = inner, outer
        self._seen = tuple(map(int, settings.split(":")))
        self._device = termios_device(inner)
        self.forwards = False

    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        rows, columns, _, _ = struct.unpack("4H", fcntl.ioctl(self._inner, termios.TIOCGWINSZ, bytes(8)))
        return columns or 80, rows or 24

    def follow(self) -> None:
        """Take over what changed on either side."""
        with contextlib.suppress(OSError, termios.error):
            self._follow_size()
            self._follow_settings()

    def _follow_size(self) -> None:
        inner, outer = (fcntl.ioctl(each, termios.TIOCGWINSZ, bytes(8)) for each in (self._inner, self._outer))
        if inner != outer:
            fcntl.ioctl(self._inner, termios.TIOCSWINSZ, outer)
            # The kernel announced the new size before they could ask for it here.
            with contextlib.suppress(OSError):
                os.killpg(os.tcgetpgrp(self._outer), signal.SIGWINCH)

    def _follow_settings(self) -> None:
        settings = termios.tcgetattr(self._inner)
        if flags_of(settings) == self._seen:
            return
        outer = termios.tcgetattr(self._outer)
        iflag, oflag, _, lflag = settings[:4]
        raw = not iflag & termios.ICRNL and bool(oflag & termios.ONLCR) and not lflag & termios.ICANON
        processed = 0 if raw else outer[1] & termios.OPOST
        outer[0], outer[1], outer[3], outer[6] = iflag, oflag & ~termios.OPOST | processed, lflag, settings[6]
        termios.tcsetattr(self._outer, termios.TCSADRAIN, outer)
        if oflag & termios.OPOST:
            # What is written here must arrive unchanged: the outer terminal processes it.
            settings[1] &= ~termios.OPOST
            termios.tcsetattr(self._inner, termios.TCSANOW, settings)
        self._seen = flags_of(settings)
        self.forwards = not lflag & termios.ICANON and self._is_read()

    def _is_read(self) -> bool:
        """Whether a program reads from the terminal that it writes to: a pager opens it by its name."""
        group = os.tcgetpgrp(self._outer)
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.getpgid(int(process.name)) != group or int(process.name) == os.getpid():
                    continue
                others = [fd for fd in (process / "fd").iterdir() if fd.name not in ("1", "2")]
                if any(str(fd.readlink()) == self._device for fd in others):
                    return True
        return False


def flags_of(settings: list[Any]) -> tuple[int, ...]:
    """The settings that programs change."""
    return (settings[0], settings[1], settings[3])


def termios_device(master: int) -> str:
    """The path of the other end of a pseudo-terminal."""
    (number,) = struct.unpack("I", fcntl.ioctl(master, TIOCGPTN, bytes(4)))
    return f"/dev/pts/{number}"


def copy_output(arguments: list[str]) -> None:
    """Copy until every stream has ended; the arguments are those of this module."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGHUP, signal.SIGTERM, signal.SIGTTOU):
        signal.signal(number, signal.SIG_IGN)
    front, bound, folder, where, *words = arguments
    control = socket.socket(fileno=int(front))
    mode, _, path = where.partition("=")
    steps = StepLines(mode, path)
    each = zip(*[iter(words)] * 3, strict=True)
    streams = [_Stream(name, int(source), int(sink), steps) for name, source, sink in each]
    keeper = Keeper(Path(folder), int(bound))

    def copy(number: int, stream: _Stream) -> None:
        if not stream.copy(keeper):
            # As without us: the command's next write fails.
            with contextlib.suppress(OSError):
                control.sendall(b"closed %d\n" % number)
            os.close(stream.source)

    threads = [threading.Thread(target=copy, args=each) for each in enumerate(streams)]
    for thread in threads:
        thread.start()
    threading.Thread(target=_answer, args=(control, streams, keeper, steps), daemon=True).start()
    for thread in threads:
        thread.join()
    steps.close()
    keeper.close()
    with contextlib.suppress(OSError):
        control.sendall(DRAINED)


def _answer(control: socket.socket, streams: list[_Stream], keeper: Keeper, steps: StepLines) -> None:
    """The front says that the command has ended: whatever it printed is to be where it belongs."""
    with contextlib.suppress(OSError):
        if not control.recv(1) or all(stream.ended.wait(END_S) for stream in streams):
            return
        for stream in streams:
            stream.ask()
        for stream in streams:
            stream.drained.wait()
        keeper.flush()
        steps.flush()
        control.sendall(DRAINED)


if __name__ == "__main__":
    copy_output(sys.argv[1:])
