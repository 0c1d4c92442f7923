"""OutputBuffer: redacts and stores output in a thread, so that no command waits for that."""

from __future__ import annotations

from collections import deque
from threading import Condition, Thread

from .chunks import GATHER_S, Chunk, Source, now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .stored_streams import StoredStreams

RING = 8 * 1024 * 1024
"""Bytes in the buffer. While the head has room, a faster command is blocked; later, the oldest bytes are dropped."""

MOST_WAIT_S = 1.0
"""The longest time that a command waits for room."""


class OutputBuffer:
    """`put` output of a source, in any thread; `flush` returns when all of it is stored."""

    def __init__(self, folder: str, bound: int) -> None:
        self._folder, self._bound = folder, bound
        self._ring: deque[Chunk] = deque()
        self._size, self._dropped = 0, 0
        self._changed = Condition()
        self._idle, self._closing, self._hurry = True, False, False
        self._filling = True
        self._thread: Thread | None = None

    def put(self, source: Source, data: bytes) -> None:
        name, size = source
        chunk = (now(), (name, size() if size is not None else None), data)
        with self._changed:
            if self._thread is None:
                self._thread = Thread(target=self._work, name="interlock-store", daemon=True)
                self._thread.start()
            if self._size + len(data) > RING and self._filling:
                self._changed.wait_for(lambda: self._size + len(data) <= RING, MOST_WAIT_S)
            while self._ring and self._size + len(data) > RING:
                self._dropped += len(old := self._ring.popleft()[2])
                self._size -= len(old)
            self._ring.append(chunk)
            self._size += len(data)
            self._idle = False
            self._changed.notify_all()

    def flush(self, seconds: float = 30.0) -> None:
        """Wait until everything that was put is stored."""
        with self._changed:
            self._hurry = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._idle, seconds)
            self._hurry = False

    def close(self) -> None:
        """Store the rest, including an unfinished line."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        try:
            from .stored_streams import StoredStreams

            self._store(StoredStreams(self._folder, self._bound))
        except Exception:  # noqa: BLE001  the disk is full, or a defect: the command continues, its output is not kept
            self._give_up()

    def _store(self, streams: StoredStreams) -> None:
        while self._follows():
            streams.store(*self._drain())
            with self._changed:
                self._filling = streams.writer.filling_head
                self._idle = not self._ring
                self._changed.notify_all()
        streams.finish()

    def _follows(self) -> bool:
        """Wait for output; False when closing and nothing is left."""
        with self._changed:
            self._changed.wait_for(lambda: self._ring or self._closing)
            return bool(self._ring)

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
