"""How issues and interventions enter a run's state: newest last, bounded, each once."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from ..core import HISTORY, Intervention, Issue, RunState


def remember(run: RunState, issues: Iterable[Issue] = (), interventions: Iterable[Intervention] = ()) -> RunState:
    """The run with these added; an intervention that is there already is replaced by what is known of it now."""
    found = {known.id: known for known in (*run.issues, *issues)}
    made = {known.id: known for known in (*run.interventions, *interventions)}
    return replace(run, issues=tuple(found.values())[-HISTORY:], interventions=tuple(made.values())[-HISTORY:])
