"""Ruling: what the controller makes of one issue; Rulings: of all that came together."""

from __future__ import annotations

from msgspec import Struct

from ..core import Directive, Intervention, Issue, RunState, Sign, Stuck
from ..intervene import InterventionResponse


class Sighting(Struct, frozen=True):
    """What a step showed of one episode: what it is about as it is now known, and a sign where there was a chance."""

    episode: str
    stuck: tuple[Stuck, ...]
    sign: Sign | None = None


class Observed(Struct, frozen=True, kw_only=True):
    """One step as the controller sees it: its alarms, and what it showed of the episodes that are known.

    `instructed` says that a person said something new to the agent; `progressed` whether the run is on its way.
    """

    step: int
    agent: str = ""
    issues: tuple[Issue, ...] = ()
    sightings: tuple[Sighting, ...] = ()
    instructed: bool = False
    progressed: bool = False


class Ruling(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One issue, its score, the intervention as recorded, and what is to be carried out.

    `would` holds what would have been carried out, where the controller only observes. `escalated` says that this
    answer is stronger than the type's last.
    """

    issue: Issue
    score: float
    combined: float
    intervention: Intervention
    answer: InterventionResponse | None = None
    directives: tuple[Directive, ...] = ()
    would: tuple[Directive, ...] = ()
    escalated: bool = False


class Rulings(Struct, frozen=True, kw_only=True):
    """All rulings of a decision, the strongest issue first; what was judged on the way; the run afterwards."""

    rulings: tuple[Ruling, ...]
    judged: tuple[Intervention, ...]
    run: RunState

    @property
    def directives(self) -> tuple[Directive, ...]:
        """Everything to carry out, in order."""
        return tuple(directive for ruling in self.rulings for directive in ruling.directives)
