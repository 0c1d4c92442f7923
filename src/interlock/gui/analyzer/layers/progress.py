"""The progress layer: whether the files grow as they should while text is typed."""

from __future__ import annotations

from collections.abc import Callable

from ....core import Clock, SystemClock
from ...screenshot.screenshot import Screenshot
from ..evidence import Evidence, nothing, ok, problem
from ..result import ReplayStatus, ScreenSituation

STALLED_S = 30.0
"""A chunk of typing reaches the disk in less than a second, under heavy load in a few."""


class ProgressLayer:
    """`last_progress` is when the last chunk reached the disk (monotonic seconds); None before the first."""

    name = "files"

    def __init__(self, last_progress: Callable[[], float | None], clock: Clock | None = None) -> None:
        self._last, self._clock = last_progress, clock or SystemClock()

    def look(self, screenshot: Screenshot | None, situation: ScreenSituation) -> Evidence:
        last = self._last()
        if not situation.typing or last is None:
            return nothing(self.name, "nothing is being typed")
        age = self._clock.monotonic() - last
        if age <= STALLED_S:
            return ok(self.name, f"text reached the disk {age:.1f} s ago", 0.5, "progress")
        says = f"text is being typed, but for {age:.0f} s none has reached the disk"
        return problem(self.name, ReplayStatus.ERROR_STATE, "stalled", "progress", 0.9, says)
