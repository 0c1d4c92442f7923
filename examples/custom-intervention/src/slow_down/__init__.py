"""An intervention that makes a wandering agent wait and think, and a strategy that is patient with it."""

from __future__ import annotations

from interlock.config.schema import Interventions
from interlock.core import Delay, Inject, Issue, Message, MessageMeta, RunState
from interlock.decide import Situation
from interlock.intervene import Continue, Custom, level_of

PAUSE_S = 10.0


def breathe(issue: Issue, state: RunState, config: Interventions, now: float) -> Continue:
    """Wait a moment, then ask for a plan. Pure: it gives directives, the runtime carries them out."""
    meta = MessageMeta(
        intervention="take_a_breath", issue=issue.type, time=now, run_id=state.run_id, step=max(state.step, issue.step)
    )
    message = Message(f"{issue.description} Write a plan of three lines before your next action.", meta=meta)
    return Continue(
        state=state, log="a moment to think", directives=(Delay(PAUSE_S, reason="time to think"), Inject(message))
    )


take_a_breath = Custom(
    name="take_a_breath",
    issue_types=frozenset({"exploration_wandering", "goal_drift"}),
    level=level_of("context_reinforcement"),
    apply=breathe,
    needs=frozenset({"inject"}),
)


def patient(situation: Situation) -> str | int:
    """Two hints' worth of patience: stronger answers only once the score alone calls for them."""
    if situation.combined < 0.9:
        return "soft_correction"
    return (situation.last_level or 0) + 1
