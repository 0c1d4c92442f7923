"""KeepingProcess: the copier's side of the process that keeps what is printed. Imports next to nothing."""

from __future__ import annotations

import os

from .chunks import Chunk, isolated_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

READY, REFUSED = b"ready\n", b"refused\n"

UNFINISHED = -1
"""The length of what a process leaves behind that must not end yet."""


class KeeperDied(Exception):
    """Raised when the process has ended before it had kept everything."""


class KeepingProcess:
    """Used by one thread. OSError: what is printed cannot be kept, also not by another process."""

    def __init__(self, folder: str, bound: int) -> None:
        self._arguments = [folder, str(bound)]
        self._pid = 0
        self._in: IO[bytes] | None = None
        self._out: IO[bytes] | None = None
        self._left: bytes | None = b""
        self.rests = 0

    def start(self) -> bool:
        """Have one; False if it cannot be started now."""
        if self._pid:
            return True
        reads, there = os.pipe()
        here, writes = os.pipe()
        self._in, self._out = open(there, "wb"), open(here, "rb")  # noqa: SIM115  as long as the process
        words = isolated_command("interlock.output.keeping", self._arguments)
        streams = [(os.POSIX_SPAWN_DUP2, reads, 0), (os.POSIX_SPAWN_DUP2, writes, 1)]
        try:
            self._pid = os.posix_spawnp(words[0], words, os.environ, file_actions=streams)
        except OSError:
            self._close()
            return False
        finally:
            os.close(reads)
            os.close(writes)
        left = self._left or b""
        return self._ask([b"%d\n" % len(left), left]) == READY

    def keep(self, chunks: list[Chunk], dropped: int) -> bool:
        """Keep these, after so many bytes for which there was no time; whether the head has room for more."""
        parts = [b"%d %d\n" % (len(chunks), dropped)]
        for at, (stream, size), data in chunks:
            columns, rows = size() if size is not None else (0, 0)
            parts += (b"%.6f %s %d %d %d\n" % (at, stream.encode(), columns, rows, len(data)), data)
        answer = self._ask(parts)
        if not answer:
            self._left = b""
            raise KeeperDied
        filling, length = map(int, answer.split())
        assert self._out is not None
        self._left = self._out.read(length) if length != UNFINISHED else None
        return bool(filling)

    def rest(self) -> None:
        """End it until there is something to keep again, unless that would lose what is not whole yet."""
        if self._pid and self._left is not None:
            self.rests += 1
            self._end()

    def finish(self) -> None:
        """Keep what is not whole: nothing follows."""
        if self._pid and self._ask([b"0 0\n"]):
            self._end()

    def _ask(self, parts: list[bytes]) -> bytes:
        """The answer; nothing if the process has ended."""
        assert self._in is not None and self._out is not None
        try:
            for part in parts:
                self._in.write(part)
            self._in.flush()
            answer = self._out.readline()
        except BrokenPipeError:
            answer = b""
        if answer in (b"", REFUSED):
            self._end()
        if answer == REFUSED:
            raise OSError
        return answer

    def _end(self) -> None:
        self._close()
        os.waitpid(self._pid, 0)
        self._pid = 0

    def _close(self) -> None:
        assert self._in is not None and self._out is not None
        try:
            self._in.close()
        except BrokenPipeError:
            # What it did not read it does not keep.
            self._in = None
        self._out.close()
