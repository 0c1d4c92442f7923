"""TerminalSettings: keeps the command's pseudo-terminal in sync with the user's terminal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import struct
import termios
from pathlib import Path
from typing import Any

TIOCGPTN = 0x80045430
"""The ioctl that returns a pseudo-terminal's number."""


class TerminalSettings:
    """Synchronises size and settings of the command's pseudo-terminal and the user's terminal.

    The command reads from the user's terminal directly, and gets its signals; but programs also configure and query the
    terminal that they write to.
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
        """Apply changes of either side to the other."""
        with contextlib.suppress(OSError, termios.error):
            self._follow_size()
            self._follow_settings()

    def _follow_size(self) -> None:
        inner, outer = (fcntl.ioctl(each, termios.TIOCGWINSZ, bytes(8)) for each in (self._inner, self._outer))
        if inner != outer:
            fcntl.ioctl(self._inner, termios.TIOCSWINSZ, outer)
            # The kernel sent SIGWINCH before the size was set here.
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
            # Output must pass unchanged: the outer terminal processes it.
            settings[1] &= ~termios.OPOST
            termios.tcsetattr(self._inner, termios.TCSANOW, settings)
        self._seen = flags_of(settings)
        self.forwards = not lflag & termios.ICANON and self._is_read()

    def _is_read(self) -> bool:
        """Whether a program reads from the pseudo-terminal: a pager opens it by name."""
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
    """The flags that programs change."""
    return (settings[0], settings[1], settings[3])


def termios_device(master: int) -> str:
    """The path of the other end of a pseudo-terminal."""
    (number,) = struct.unpack("I", fcntl.ioctl(master, TIOCGPTN, bytes(4)))
    return f"/dev/pts/{number}"
