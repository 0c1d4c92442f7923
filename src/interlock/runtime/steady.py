"""SteadyClock: the time that a live run's limits go by. Setting the machine's clock does not move it."""

from __future__ import annotations

from ..core import Clock


class SteadyClock:
    """Seconds since the epoch as they were known at first, and from there by the monotonic clock; never goes back."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead = clock.time() - clock.monotonic()

    def time(self) -> float:
        return self._ahead + self._clock.monotonic()

    def go_on_from(self, last: float) -> None:
        """A predecessor has counted up to here."""
        self._ahead += max(0.0, last - self.time())
