"""Long wait: a wait that takes far longer than it should. Judged by time alone: waiting is not looping."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from ...core import LONG_WAIT, Issue, Seen
from ..completed_call import CompletedCall
from ..detector import Setting, StatefulDetector
from ..goal import goal_text
from ..stuck_tracking import repeat_of
from ..waiting_calls import named_seconds, told_to_wait

WAITS = 8
"""Concurrent waits tracked."""
LONGER = 1.5
"""Factor for announced durations, which tend to be optimistic."""


class Wait(Struct):
    """When the same answer was first seen, and until when that is acceptable."""

    since: float
    until: float
    outcome: int
    steps: list[int] = field(default_factory=list)
    told: bool = False


class Waits(Struct):
    """Waits by check; how long the task allows."""

    waits: dict[str, Wait] = field(default_factory=dict)
    patience: float | None = None


class LongWait(StatefulDetector[Waits]):
    """Alerts once per wait: a hint to the agent and an alert to a person, nothing stronger."""

    type = LONG_WAIT
    kinds = frozenset(("tool_result",))

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, Waits())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        turn = self.history.turn
        if turn is None or not turn.waiting:
            return ()
        name = " ".join((turn.program or turn.tool, *turn.targets))
        wait = self._wait(name, turn, seen.step.content)
        if wait.told or turn.time <= wait.until:
            return ()
        wait.told = True
        minutes = (turn.time - wait.since) / 60
        return (
            self.issue(
                turn.step,
                f"{name} has given the same answer for {minutes:.0f} minutes. Find out whether it can still succeed: "
                "look at its logs or events, or report what is blocking it.",
                key=name,
                severity="low",
                confidence=0.6,
                evidence=wait.steps,
                details={"tool": turn.tool, "minutes": round(minutes)},
                stuck=repeat_of(turn),
            ),
        )

    def _wait(self, name: str, turn: CompletedCall, answer: str) -> Wait:
        """The wait that this turn belongs to; a different answer restarts it."""
        waits = self.state.waits
        wait = waits.pop(name, None)
        if wait is None or wait.outcome != turn.outcome:
            wait = Wait(turn.time, turn.time + self._patience(), turn.outcome)
        waits[name] = wait
        if len(waits) > WAITS:
            del waits[next(iter(waits))]
        if len(wait.steps) < 8:
            wait.steps.append(turn.step)
        if seconds := named_seconds(answer):
            wait.until = max(wait.until, turn.time + LONGER * seconds)
        return wait

    def _patience(self) -> float:
        if self.state.patience is None:
            task = goal_text(self.context, self.history.past.prompt)
            longer = self.tuning.waiting_told if told_to_wait(task) else 1.0
            self.state.patience = max(self.tuning.waiting_seconds * longer, LONGER * named_seconds(task))
        return self.state.patience


detector = LongWait
