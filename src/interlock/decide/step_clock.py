"""StepClock: the time of decisions is the step's own time."""

from __future__ import annotations

import math

from msgspec import Struct

from ..core import ASSUMED_SECONDS, Step


class StepClock(Struct, frozen=True, omit_defaults=True):
    """The time of the last step; never goes back. `assumed` counts the steps that had none."""

    now: float | None = None
    assumed: int = 0

    def advance(self, step: Step) -> tuple[StepClock, float, bool]:
        """The clock after a step, its time, and whether that was assumed."""
        if step.time is not None and math.isfinite(step.time):
            now = step.time if self.now is None else max(self.now, step.time)
            return StepClock(now, self.assumed), now, False
        now = 0.0 if self.now is None else self.now + ASSUMED_SECONDS
        return StepClock(now, self.assumed + 1), now, True
