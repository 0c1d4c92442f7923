"""Obstacles: why an issue gets no answer now, though a rung was found for it."""

from __future__ import annotations

from collections.abc import Sequence

from ..config import Interventions
from ..core import ENDED, Outcome, RunState
from ..intervene import Continue
from .pace import COOLDOWN_S, ESCALATION_DELAY_S
from .ruling import Ruling
from .state import ControllerState
from .weighed_issue import WeighedIssue

Obstacle = tuple[Outcome, str]


def before_limit(
    case: WeighedIssue, config: Interventions, run: RunState, earlier: Sequence[Ruling]
) -> Obstacle | None:
    """What is in the way of anything at all, also of a pause at the limit."""
    acted = [ruling for ruling in earlier if ruling.answer is not None]
    if not config.enabled:
        return "not_applied", "interventions are switched off"
    if run.status in ENDED:
        return "not_applied", "the run has ended"
    if any(_is_final(ruling) for ruling in acted):
        return "held_back", "a more severe issue was handled with a rollback, a pause or a stop"
    if acted and (not case.critical or any(ruling.issue.type == case.issue.type for ruling in acted)):
        return "held_back", "a more severe issue is handled first"
    if run.status in ("pausing", "paused") and not case.critical:
        return "held_back", "the run waits for a person"
    return None


def before_acting(case: WeighedIssue, config: Interventions, state: ControllerState, now: float) -> Obstacle | None:
    """What is in the way of this rung: capabilities, cooldown, escalation delay. Critical issues pass the times."""
    if not case.rung.applicable:
        return "not_applied", "the adapter cannot apply it"
    if case.critical:
        return None
    configured = config.intervention_cooldown_seconds
    cooldown = COOLDOWN_S if configured is None else configured
    if state.last_acted is not None and now - state.last_acted < cooldown:
        return "held_back", f"cooldown: less than {cooldown:g} s since the last intervention"
    known, given = state.of(case.issue.type), config.strategy.escalation_delay_seconds
    delay = ESCALATION_DELAY_S if given is None else given
    if known.is_escalation(case.rung.level) and known.escalated_at is not None and now - known.escalated_at < delay:
        return "held_back", f"escalation delay: less than {delay:g} s since this type last escalated"
    return None


def _is_final(ruling: Ruling) -> bool:
    return not isinstance(ruling.answer, Continue) or bool(ruling.answer.history)
