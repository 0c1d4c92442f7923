"""Clock: the time is passed in, so that tests and replays can control it."""

from __future__ import annotations

import time
from typing import Protocol

ASSUMED_SECONDS = 5.0
"""A step without a time is assumed to come this long after the previous one."""


class Clock(Protocol):
    """Seconds since the epoch for records, and monotonic seconds for waiting."""

    def time(self) -> float: ...

    def monotonic(self) -> float: ...


class SystemClock:
    """The system clock."""

    monotonic = staticmethod(time.monotonic)
    time = staticmethod(time.time)


class ManualClock:
    """A clock that advances only when it is set."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._now = now

    def time(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += seconds
