"""Inputs and outputs of a decision pipeline: plugins, step times, the outcome of a step; causes of checkpoints."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from msgspec import Struct

from ..core import ASSUMED_SECONDS, Directive, Intervention, Issue, Step

if TYPE_CHECKING:
    from ..decide import Episode, Ruling, Strategy
    from ..detect import Factory
    from ..intervene import Custom, Templates


class StepOutcome(Struct, frozen=True):
    """The outcome of one step.

    `assumed_time`: the step had no time of its own; `judged` are earlier interventions whose outcome is now
    known; `rulings` are the decisions; `episodes` are those that opened, were answered or ended.
    """

    now: float
    assumed_time: bool
    issues: tuple[Issue, ...] = ()
    rulings: tuple[Ruling, ...] = ()
    judged: tuple[Intervention, ...] = ()
    progressed: bool = True
    episodes: tuple[Episode, ...] = ()

    @property
    def directives(self) -> tuple[Directive, ...]:
        return tuple(directive for ruling in self.rulings for directive in ruling.directives)


class Plugins(Struct, frozen=True):
    """A caller's own parts: detectors are added to the installed ones; strategies and interventions replace them."""

    detectors: tuple[Factory, ...] = ()
    strategies: dict[str, Strategy] | None = None
    interventions: tuple[Custom, ...] | None = None
    templates: Templates | None = None
    muted: frozenset[str] = frozenset()


class StepClock(Struct, frozen=True, omit_defaults=True):
    """The time of the last step, which never decreases. `assumed` counts the steps without a time."""

    now: float | None = None
    assumed: int = 0

    def advance(self, step: Step) -> tuple[StepClock, float, bool]:
        """The clock after a step, its time, and whether that was assumed."""
        if step.time is not None and math.isfinite(step.time):
            now = step.time if self.now is None else max(self.now, step.time)
            return StepClock(now, self.assumed), now, False
        now = 0.0 if self.now is None else self.now + ASSUMED_SECONDS
        return StepClock(now, self.assumed + 1), now, True


AFTER_STEP = "after step"
END_OF_TURN = "end of turn"
MEANWHILE = "meanwhile"
"""The cause of checkpoints made while a process without visible steps was working."""

OWN = frozenset((AFTER_STEP, MEANWHILE))
"""Causes of checkpoints before which all changes are the run's own work."""
