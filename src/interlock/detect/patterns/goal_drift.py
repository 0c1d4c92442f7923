"""Goal drift: the run goes somewhere else than its task, or skips the plan that it made for it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ...core import Issue, Seen
from ..detector import Remembering, Setting


class Course(Struct):
    """Whether the skipped plan was told."""

    skipped: bool = False


class GoalDrift(Remembering[Course]):
    """Compares what is done with what was asked and planned."""

    type = "goal_drift"

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, Course())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        if self.history.answers and not self.state.skipped:
            return self._skipped(seen.step.index)
        return ()

    def _skipped(self, step: int) -> tuple[Issue, ...]:
        """An answer before the plan was carried out."""
        past = self.history.past
        speech = past.speech
        broken = speech.broken()
        if past.informed or not (broken or speech.retrieval is not None):
            return ()
        self.state.skipped = True
        said = [speech.promised[name] for name in broken] or [speech.retrieval or 0]
        what = f"it names {', '.join(broken[:3])}" if broken else "it says to look things up"
        return (
            self.issue(
                step,
                f"The plan was skipped: {what}, and the answer was given without it. Carry out the plan first.",
                key="plan",
                confidence=0.7 if broken else 0.6,
                evidence=[*said[:3], step],
                details={"promised": broken},
            ),
        )


detector = GoalDrift
