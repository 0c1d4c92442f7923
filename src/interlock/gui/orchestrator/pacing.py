"""Pacing: how long ago the last recovery was, and how many have failed in a row."""

from __future__ import annotations

from ...config import Gui
from ...core import Clock
from ..analyzer.result import ReplayStatus


class Pacing:
    """Counts failures and keeps the cooldown, by the monotonic clock."""

    def __init__(self, config: Gui, clock: Clock) -> None:
        self._config, self._clock = config, clock
        self._last: float | None = None
        self._failures = 0
        self._told = False

    def cooldown_left(self) -> float:
        if self._last is None:
            return 0.0
        return max(0.0, self._last + self._config.min_cooldown_seconds - self._clock.monotonic())

    def saw(self, status: ReplayStatus) -> None:
        """A normal screen ends a row of failures."""
        if status is ReplayStatus.NORMAL:
            self._failures, self._told = 0, False

    def recovered(self, success: bool) -> None:
        self._last = self._clock.monotonic()
        if success:
            self._failures, self._told = 0, False
        else:
            self._failures += 1

    def is_critical(self) -> bool:
        """True once, when too many recoveries in a row have failed."""
        if self._failures < self._config.max_retries or self._told:
            return False
        self._told = True
        return True
