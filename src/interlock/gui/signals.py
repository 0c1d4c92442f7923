"""Ctrl-C and SIGTERM: a session ends in order."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

INTERRUPTED = "interrupted"


@contextmanager
def interrupted(stop: Callable[[str], object]) -> Iterator[None]:
    """Ctrl-C and SIGTERM end the session in order: what was started is ended, what was typed is kept."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: object) -> None:
        stop(INTERRUPTED)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
