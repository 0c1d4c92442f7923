"""A running troublemaker, seen without trusting what is tested."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path

from interlock.process import ProcessTree

from ..waiting import PATIENCE_S

TROUBLEMAKER = Path(__file__).with_name("troublemaker.py")


class Trouble:
    """One running troublemaker: its tree, its heartbeat, and the lines it says."""

    def __init__(self, folder: Path, mode: str) -> None:
        self.tag = secrets.token_hex(8)
        self.counter = folder / f"beats-{self.tag}"
        self.counter.write_bytes(bytes(4096))
        self._said, self.ready = os.pipe()
        self._lines: list[str] = []
        self._rest = b""
        self.argv = (sys.executable, "-I", "-S", str(TROUBLEMAKER), mode, str(self.counter), str(self.ready), self.tag)

    def hear(self, count: int = 1) -> list[str]:
        """The next lines that its processes say."""
        deadline = time.monotonic() + PATIENCE_S
        while len(self._lines) < count:
            left = deadline - time.monotonic()
            assert left > 0, f"it said {self._lines} only"
            if select.select([self._said], [], [], left)[0]:
                *lines, self._rest = (self._rest + os.read(self._said, 65536)).split(b"\n")
                self._lines += [line.decode() for line in lines]
        heard, self._lines = self._lines[:count], self._lines[count:]
        return heard

    def beats(self) -> int:
        return int.from_bytes(self.counter.read_bytes()[:8], "little")

    def processes(self) -> list[int]:
        """Every process on the machine that has the tag in its command line."""
        found = []
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if folder.name.isdigit() and self.tag.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
        return found

    def close(self) -> None:
        os.close(self._said)
        os.close(self.ready)


Starter = Callable[..., tuple[ProcessTree, Trouble]]
