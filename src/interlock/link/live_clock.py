"""LiveClock: counts only time in which this process could run."""

from __future__ import annotations

import time
from threading import Lock

from ..control import ClockReading
from ..core import Clock

TICK_S = 2.0
"""How often the clock is read while something depends on it."""


def now() -> ClockReading:
    """Both clocks of this machine."""
    return ClockReading(time.time(), time.monotonic())


class LiveClock:
    """A steady clock that does not count time in which the process was frozen.

    What was sent to a frozen owner waits in its buffers: the results that it is compared with must not have expired
    when it wakes up.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._last = clock.monotonic()
        self._live = 0.0

    def now(self) -> ClockReading:
        with self._lock:
            moment = self._clock.monotonic()
            passed = moment - self._last
            if passed > 0:
                self._live += passed if passed < 2 * TICK_S else 2 * TICK_S
            self._last = moment
            return ClockReading(self._clock.time(), self._live)
