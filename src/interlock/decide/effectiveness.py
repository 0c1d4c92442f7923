"""Effectiveness: whether an intervention worked, seen after the fact."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from ..core import Intervention
from .state import ControllerState, PendingEffect


def judge(
    state: ControllerState, step: int, seen_types: Collection[str], progressed: bool, steps_needed: int
) -> tuple[ControllerState, list[Intervention]]:
    """Judge what waits for judgement after a step; returns the interventions whose outcome is now known.

    One has failed as soon as its issue type comes back, and has worked when `steps_needed` steps passed without it
    and with progress. Without progress it waits on, until there is some or the issue comes back.
    """
    if not state.pending:
        return state, []
    waiting: list[PendingEffect] = []
    judged: list[Intervention] = []
    for entry in state.pending:
        made, passed = entry.made, step - entry.made.step
        progress = entry.progressed or (progressed and passed > 0)
        came_back = made.issue_type in seen_types and passed > 0
        if not came_back and not (passed >= steps_needed and progress):
            waiting.append(PendingEffect(made, progress))
            continue
        outcome = replace(made, outcome="failure" if came_back else "success")
        judged.append(outcome)
        state = state.with_type(made.issue_type, state.of(made.issue_type).judge(made, worked=not came_back))
        state = replace(state, failed=state.failed + came_back, worked=state.worked + (not came_back))
    return replace(state, pending=tuple(waiting)), judged
