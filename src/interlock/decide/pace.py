"""Pace: how long a call of this run takes, so that times fit agents of every speed."""

from __future__ import annotations

from msgspec import Struct

from ..config import Interventions

COOLDOWN_S = 30.0
"""Time between two interventions, unless the run is quicker than that."""
ESCALATION_DELAY_S = 120.0
"""Time before a stronger one, likewise."""
COOLDOWN_CALLS = 1
ESCALATION_CALLS = 3
"""The same in calls of the run's own pace: at 0.4 s a call, 30 s would be 75 wasted ones."""
KEPT = 15


class Pace(Struct, frozen=True, omit_defaults=True):
    """The times between the last calls."""

    last: float | None = None
    gaps: tuple[float, ...] = ()

    def called(self, now: float) -> Pace:
        """After one more call."""
        if self.last is None:
            return Pace(now)
        return Pace(now, (*self.gaps, max(0.0, now - self.last))[-KEPT:])

    @property
    def call_s(self) -> float | None:
        """The median time of a call; None while there is none."""
        if not self.gaps:
            return None
        ordered, middle = sorted(self.gaps), len(self.gaps) // 2
        return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2

    def cooldown(self, config: Interventions) -> float:
        """Seconds between two interventions: as configured, else whatever is shorter."""
        configured = config.intervention_cooldown_seconds
        return self._shorter(COOLDOWN_S, COOLDOWN_CALLS) if configured is None else configured

    def escalation_delay(self, config: Interventions) -> float:
        """Seconds before a stronger one."""
        configured = config.strategy.escalation_delay_seconds
        return self._shorter(ESCALATION_DELAY_S, ESCALATION_CALLS) if configured is None else configured

    def _shorter(self, seconds: float, calls: int) -> float:
        return seconds if self.call_s is None else min(seconds, calls * self.call_s)
