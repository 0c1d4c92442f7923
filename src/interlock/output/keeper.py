"""Keeper: takes what was copied, and has it kept. A separate thread, so that no command waits for redaction."""

from __future__ import annotations

from _collections import deque  # type: ignore[import-not-found]  # without all of collections

from .chunks import GATHER_S, Chunk, Source, now
from .keeping_process import KeeperDied, KeepingProcess
from .minimal_threads import Condition, Thread

RING = 8 * 1024 * 1024
"""Bytes that wait to be kept. While the head has room a command that is faster waits; later, the oldest go."""

MOST_WAIT_S = 1.0
"""How long a command waits for room at most."""

QUIET_S = 10.0
"""How long nothing may be printed before the process that keeps it ends; each time twice as long, as it came again."""

AGAIN_S = 1.0
MOST_AGAIN_S = 60.0
"""How long after a process that could not be started there is another one: each time twice as long, up to this."""

LAST_TRIES = 3
"""How often one is started where nothing follows any more."""


class Keeper:
    """`put` what comes from a source, in any thread; `flush` returns when all of it is kept."""

    def __init__(self, folder: str, bound: int) -> None:
        self._kept = KeepingProcess(folder, bound)
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
        """Wait until everything that was put is kept."""
        with self._changed:
            self._hurry = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._idle or not self._thread.is_alive(), seconds)
            self._hurry = False

    def close(self) -> None:
        """Nothing follows: keep the rest, also a line without its end."""
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
                    filling = self._kept.keep(chunks, dropped)
                except KeeperDied:
                    lost = dropped + sum(len(data) for _, _, data in chunks)
                    filling = self._filling
                    with self._changed:
                        self._dropped += lost
                with self._changed:
                    self._filling = filling
                    self._idle = not self._ring
                    self._changed.notify_all()
            self._kept.finish()
        except OSError:
            # No room, or no folder any more: the command continues, and what it prints is not kept.
            self._give_up()

    def _follows(self) -> bool:
        """Wait for something to keep; False if nothing follows. While it takes long, no process is there for it."""
        quiet_s = QUIET_S * 2**self._kept.rests
        with self._changed:
            if not self._changed.wait_for(lambda: self._ring or self._closing, quiet_s):
                self._kept.rest()
                self._changed.wait_for(lambda: self._ring or self._closing)
            return bool(self._ring)

    def _start(self) -> None:
        """Have a process, before anything is taken for it: an upgrade may be under way."""
        tries, again_s = 0, AGAIN_S
        while not self._kept.start():
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
