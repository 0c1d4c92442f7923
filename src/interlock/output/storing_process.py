"""StoringProcess: the copier's side of the process that stores output. Imports almost nothing."""

from __future__ import annotations

import os

from .chunks import Chunk, isolated_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

READY, REFUSED = b"ready\n", b"refused\n"

UNFINISHED = -1
"""Sent instead of a length: the process must not end yet."""


class StoringProcessDied(Exception):
    """Raised if the process ended before it had stored everything."""


class StoringProcess:
    """For one thread. Raises OSError if output cannot be stored by any process."""

    def __init__(self, folder: str, bound: int) -> None:
        self._arguments = [folder, str(bound)]
        self._pid = 0
        self._in: IO[bytes] | None = None
        self._out: IO[bytes] | None = None
        self._left: bytes | None = b""
        self.rests = 0

    def start(self) -> bool:
        """Start the process if there is none; False if that fails now."""
        if self._pid:
            return True
        reads, there = os.pipe()
        here, writes = os.pipe()
        self._in, self._out = open(there, "wb"), open(here, "rb")  # noqa: SIM115  as long as the process
        words = isolated_command("interlock.output.store_output", self._arguments)
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

    def store(self, chunks: list[Chunk], dropped: int) -> bool:
        """Store these chunks, after a gap of dropped bytes; returns whether the head has room for more."""
        parts = [b"%d %d\n" % (len(chunks), dropped)]
        for at, (stream, size), data in chunks:
            columns, rows = size() if size is not None else (0, 0)
            parts += (b"%.6f %s %d %d %d\n" % (at, stream.encode(), columns, rows, len(data)), data)
        answer = self._ask(parts)
        if not answer:
            self._left = b""
            raise StoringProcessDied
        filling, length = map(int, answer.split())
        assert self._out is not None
        self._left = self._out.read(length) if length != UNFINISHED else None
        return bool(filling)

    def rest(self) -> None:
        """End the process until there is more output, unless incomplete output would be lost."""
        if self._pid and self._left is not None:
            self.rests += 1
            self._end()

    def finish(self) -> None:
        """Store incomplete output, and end the process."""
        if self._pid and self._ask([b"0 0\n"]):
            self._end()

    def _ask(self, parts: list[bytes]) -> bytes:
        """The reply; empty if the process has ended."""
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
            # Data that it did not read is not stored.
            self._in = None
        self._out.close()
