"""Goal drift: an answer that skips the plan. What it rests on are words, so it is a note.

Files that have nothing to do with the task are found on the disk, see `runtime/drift.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ...core import Issue, Seen
from ..detector import Setting, StatefulDetector


class Plan(Struct):
    """Whether a skipped plan was noted."""

    skipped: bool = False


class GoalDrift(StatefulDetector[Plan]):
    """Compares the answer with the plan."""

    type = "goal_drift"
    kinds = frozenset(("tool_call", "message"))

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, Plan())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        past = self.history.past
        if not self.history.answers or self.state.skipped or not (plan := past.speech.unfounded(past.informed)):
            return ()
        self.state.skipped = True
        step = seen.step.index
        return (
            self.issue(
                step,
                f"The plan was skipped: {plan.promises}, but the answer came without it. Carry out the plan first.",
                key="plan",
                severity="low",
                confidence=0.7,
                evidence=[*plan.steps, step],
                details={"promised": plan.names},
            ),
        )


detector = GoalDrift
