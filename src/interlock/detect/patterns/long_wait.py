"""Long wait: a wait that takes far longer than it should. Judged by time alone: waiting is not looping."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from ...core import LONG_WAIT, Issue, Seen
from ..completed_call import CompletedCall
from ..detector import Setting, StatefulDetector
from ..stuck_tracking import repeat_of

WAITS = 8
"""Concurrent waits tracked."""
AGAIN = 3.0
"""It is said again after twice the time that it took the first time."""


class Wait(Struct):
    """Since when nothing has moved, and when that is said next."""

    since: float
    until: float
    moved: int
    steps: list[int] = field(default_factory=list)


class Waits(Struct):
    """Waits by what is asked."""

    waits: dict[str, Wait] = field(default_factory=dict)


class LongWait(StatefulDetector[Waits]):
    """A hint to the agent and an item for a person when nothing has moved for long; again after twice that time."""

    type = LONG_WAIT
    kinds = frozenset(("tool_result",))

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, Waits())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        turn = self.history.turn
        if turn is None or not turn.waiting:
            if turn is not None and turn.gain:
                self.state.waits.clear()  # work goes on meanwhile
            return ()
        name = " ".join((turn.program or turn.tool, *turn.targets))
        wait = self._wait(name, turn)
        if turn.time <= wait.until:
            return ()
        waited = turn.time - wait.since
        wait.until = wait.since + AGAIN * waited
        return (
            self.issue(
                turn.step,
                f"Nothing has moved for {waited / 60:.0f} minutes: {name} gives the same answer. Find out whether it "
                "can still succeed: look at its logs or events, or report what is blocking it.",
                key=name,
                severity="low",
                confidence=0.6,
                evidence=wait.steps,
                started=turn.step,
                details={"tool": turn.tool, "minutes": round(waited / 60)},
                stuck=replace(repeat_of(turn), most=0),
            ),
        )

    def _wait(self, name: str, turn: CompletedCall) -> Wait:
        """The wait that this turn belongs to; an answer that moves on restarts it."""
        waits = self.state.waits
        wait = waits.pop(name, None)
        if wait is not None and wait.moved != turn.moved:
            waits.clear()
            wait = None
        if wait is None:
            wait = Wait(turn.time, turn.time + self.tuning.waiting_seconds, turn.moved)
        waits[name] = wait
        if len(waits) > WAITS:
            del waits[next(iter(waits))]
        if len(wait.steps) < 8:
            wait.steps.append(turn.step)
        return wait


detector = LongWait
