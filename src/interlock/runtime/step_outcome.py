"""StepOutcome: what one step led to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from ..core import Directive, Intervention, Issue

if TYPE_CHECKING:
    from ..decide import Episode, Ruling


class StepOutcome(Struct, frozen=True):
    """What one step led to.

    `assumed_time` says that the step had no time of its own; `judged` are earlier interventions whose outcome is now
    known; `rulings` what was decided; `episodes` those that opened, were answered or ended.
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
