"""Waiting for something outside (a window, a file, a server), with a limit."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(
    condition: Callable[[], object],
    timeout_s: float,
    *,
    every_s: float = 0.02,
    give_up: Callable[[], bool] = lambda: False,
) -> bool:
    """Wait until a condition holds; False when the time is over or `give_up` says so."""
    end = time.monotonic() + timeout_s
    while not condition():
        if give_up() or time.monotonic() >= end:
            return False
        time.sleep(every_s)
    return True
