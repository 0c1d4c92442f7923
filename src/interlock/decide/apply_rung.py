"""From a rung to its intervention."""

from __future__ import annotations

from ..config import Interventions
from ..core import Issue, RunState
from ..intervene import (
    FIRST,
    Attempt,
    InterventionResponse,
    Templates,
    checkpoint_rollback,
    context_reinforcement,
    emergency_stop,
    pause_for_person,
    resource_throttling,
    soft_correction,
)
from .ladder import Rung


def apply_rung(
    rung: Rung,
    issue: Issue,
    run: RunState,
    config: Interventions,
    now: float,
    templates: Templates,
    attempt: Attempt = FIRST,
) -> InterventionResponse:
    """What the rung's intervention gives; `attempt` says what was tried before in the same episode."""
    if rung.pause:
        return pause_for_person(issue, run, now, attempt.tried() or rung.reasons[-1])
    if rung.custom is not None:
        return rung.custom.apply(issue, run, config, now)
    match rung.name:
        case "soft_correction":
            return soft_correction(issue, run, now, templates, attempt)
        case "context_reinforcement":
            return context_reinforcement(issue, run, config.context_reinforcement, now, attempt)
        case "resource_throttling":
            return resource_throttling(issue, run, config.resource_throttling, now, attempt)
        case "checkpoint_rollback":
            window = config.resource_throttling.metrics_window_seconds
            return checkpoint_rollback(issue, run, config.checkpoint_rollback, now, attempt, window_s=window)
        case _:
            return emergency_stop(issue, run, config, now)
