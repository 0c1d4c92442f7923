"""Custom: a custom intervention at a level of the ladder, for some types of issues; and the available ones."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from ..config import Interventions
from ..core import INTERVENTIONS, LADDER, BadInput, Capability, InterventionType, Issue, RunState
from .outcome import InterventionResponse

Apply = Callable[[Issue, RunState, Interventions, float], InterventionResponse]
"""Takes the issue, the run, the configuration and the time; returns Continue, RecoveryNeeded or Stopped."""


class Custom(Struct, frozen=True):
    """An intervention that replaces the built-in one at its level, for its types of issues.

    `issue_types` may contain "*" for every type; `needs` are the capabilities that it requires.
    """

    name: str
    issue_types: frozenset[str]
    level: int
    apply: Apply
    needs: frozenset[Capability] = frozenset()

    def __post_init__(self) -> None:
        if not self.name or self.name in LADDER:
            raise BadInput(
                f"{self.name!r} cannot be the name of a custom intervention",
                todo="Choose a non-empty name other than the five built-in ones.",
            )
        if not self.issue_types:
            raise BadInput(
                f"the custom intervention {self.name!r} names no issue types", todo='Use e.g. frozenset({"loop"}).'
            )
        if not 0 <= self.level < len(LADDER):
            raise BadInput(
                f"the custom intervention {self.name!r} has level {self.level}",
                todo=f"Levels go from 0 ({LADDER[0]}) to {len(LADDER) - 1} ({LADDER[-1]}).",
            )

    def answers(self, issue_type: str, level: int) -> bool:
        return level == self.level and (issue_type in self.issue_types or "*" in self.issue_types)


def level_of(rung: InterventionType) -> int:
    """The level of a built-in intervention, for declaring a custom one alongside it."""
    return LADDER.index(rung)


def register_intervention(custom: Custom) -> Custom:
    """Add an intervention to every controller created from now on."""
    INTERVENTIONS.register(custom)
    return custom


def unregister_intervention(custom: Custom) -> None:
    """Remove a registered intervention."""
    INTERVENTIONS.unregister(custom)


def custom_interventions() -> tuple[Custom, ...]:
    """Every available custom intervention: installed and registered."""
    found = INTERVENTIONS.found(lambda thing: isinstance(thing, Custom))
    return tuple(custom for _, custom in found if isinstance(custom, Custom))
