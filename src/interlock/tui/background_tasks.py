"""Background tasks: slow work in daemon threads that nothing waits for, not even at exit."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from ..core import InterlockError

T = TypeVar("T")

Failure = Callable[[InterlockError], object]

AGAIN_S = 1.0
"""How long after a failure the resource is opened again."""


def run_in_background(name: str, work: Callable[[], T], done: Callable[[T], object], failed: Failure) -> None:
    """Do something in a new thread, then call `done` or `failed` in that thread."""

    def carry_out() -> None:
        try:
            made = work()
        except (InterlockError, OSError) as error:
            failed(_as_ours(error))
        else:
            done(made)

    threading.Thread(target=carry_out, name=name, daemon=True).start()


class Worker(Generic[T]):
    """A resource that belongs to one thread: opened there, polled, and used by jobs in between.

    `poll` is called every `pause` seconds, less often where it takes long; `failed` gets why it cannot be opened or
    read, and it is opened again after AGAIN_S.
    """

    def __init__(
        self,
        name: str,
        open_it: Callable[[], T],
        poll: Callable[[T], None],
        failed: Failure,
        *,
        close: Callable[[T], None] | None = None,
        pause: float = 0.1,
    ) -> None:
        self._open, self._poll, self._failed, self._close = open_it, poll, failed, close
        self._pause = pause
        self._jobs: queue.SimpleQueue[Callable[[T], None] | None] = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def ask(self, job: Callable[[T], None]) -> None:
        """Queue a job that uses the resource, for its thread."""
        self._jobs.put(job)

    def stop(self) -> None:
        self._stopped.set()
        self._jobs.put(None)

    def _work(self) -> None:
        while not self._stopped.is_set():
            try:
                thing = self._open()
                try:
                    self._serve(thing)
                finally:
                    if self._close is not None:
                        self._close(thing)
            except (InterlockError, OSError) as error:
                if not self._stopped.is_set():
                    self._failed(_as_ours(error))
                self._stopped.wait(AGAIN_S)

    def _serve(self, thing: T) -> None:
        cost = self._timed(thing)
        while not self._stopped.is_set():
            try:
                # A slow poll is done less often.
                job = self._jobs.get(timeout=max(self._pause, 3 * cost))
            except queue.Empty:
                cost = self._timed(thing)
                continue
            if job is not None:
                job(thing)

    def _timed(self, thing: T) -> float:
        begun = time.monotonic()
        self._poll(thing)
        return time.monotonic() - begun


def _as_ours(error: InterlockError | OSError) -> InterlockError:
    if isinstance(error, OSError):
        return InterlockError(error.strerror or str(error), where=str(error.filename or ""))
    return error
