"""OutputBuffer: passes output to the storing process in a thread, so that no command waits for redaction."""

from __future__ import annotations

from _collections import deque  # type: ignore[import-not-found]  # without all of collections

from .chunks import GATHER_S, Chunk, Source, now
from .minimal_threads import Condition, Thread
from .storing_process import StoringProcess, StoringProcessDied

RING = 8 * 1024 * 1024
"""Bytes in the buffer. While the head has room, a faster command is blocked; later, the oldest bytes are dropped."""

MOST_WAIT_S = 1.0
"""The longest time that a command waits for room."""

QUIET_S = 10.0
"""After this long without output, the storing process ends; doubled each time it was needed again."""

AGAIN_S = 1.0
MOST_AGAIN_S = 60.0
"""The longest delay before a failed start is retried; the delay doubles each time."""

LAST_TRIES = 3
"""How many times a start is tried when closing."""


class OutputBuffer:
    """`put` output of a source, in any thread; `flush` returns when all of it is stored."""

    def __init__(self, folder: str, bound: int) -> None:
        self._process = StoringProcess(folder, bound)
        self._ring: deque[Chunk] = deque()
        self._size, self._dropped = 0, 0
        self._changed = Condition()
        self._idle, self._closing, self._hurry = True, False, False
        self._filling = True
        self._thread = Thread(self._work)

    def put(self, source: Source, data: bytes) -> None:
        with self._changed:
            if not self._thread.begun:
                self._thread.start()
            if self._size + len(data) > RING and self._filling:
                self._changed.wait_for(lambda: self._size + len(data) <= RING, MOST_WAIT_S)
            while self._ring and self._size + len(data) > RING:
                self._dropped += len(old := self._ring.popleft()[2])
                self._size -= len(old)
            self._ring.append((now(), source, data))
            self._size += len(data)
            self._idle = False
            self._changed.notify_all()

    def flush(self, seconds: float = 30.0) -> None:
        """Wait until everything that was put is stored."""
        with self._changed:
            self._hurry = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._idle or not self._thread.is_alive(), seconds)
            self._hurry = False

    def close(self) -> None:
        """Store the rest, including an unfinished line."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread.begun:
            self._thread.join()

    def _work(self) -> None:
        try:
            while self._follows():
                self._start()
                chunks, dropped = self._drain()
                try:
                    filling = self._process.store(chunks, dropped)
                except StoringProcessDied:
                    lost = dropped + sum(len(data) for _, _, data in chunks)
                    filling = self._filling
                    with self._changed:
                        self._dropped += lost
                with self._changed:
                    self._filling = filling
                    self._idle = not self._ring
                    self._changed.notify_all()
            self._process.finish()
        except OSError:
            # The disk is full, or the folder is gone: the command continues, and its output is not kept.
            self._give_up()

    def _follows(self) -> bool:
        """Wait for output; False when closing. During a long wait, the process is ended."""
        quiet_s = QUIET_S * 2**self._process.rests
        with self._changed:
            if not self._changed.wait_for(lambda: self._ring or self._closing, quiet_s):
                self._process.rest()
                self._changed.wait_for(lambda: self._ring or self._closing)
            return bool(self._ring)

    def _start(self) -> None:
        """Start the process before draining the buffer; retries, because an upgrade may be in progress."""
        tries, again_s = 0, AGAIN_S
        while not self._process.start():
            with self._changed:
                tries += self._closing
                if tries == LAST_TRIES:
                    raise OSError
                self._changed.wait_for(lambda: self._closing, again_s)
                again_s = min(2 * again_s, MOST_AGAIN_S)

    def _give_up(self) -> None:
        while True:
            with self._changed:
                self._ring.clear()
                self._size, self._idle, self._filling = 0, True, False
                self._changed.notify_all()
                if self._closing:
                    return
                self._changed.wait_for(lambda: self._ring or self._closing)

    def _drain(self) -> tuple[list[Chunk], int]:
        with self._changed:
            if not self._closing:
                self._changed.wait_for(lambda: self._hurry or self._closing or self._size > RING // 4, GATHER_S)
            chunks, dropped = list(self._ring), self._dropped
            self._ring.clear()
            self._size, self._dropped = 0, 0
            self._changed.notify_all()
            return chunks, dropped
