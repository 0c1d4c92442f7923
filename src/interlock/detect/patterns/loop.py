"""Loop: the same calls with the same outcome, alone or in a cycle."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from ...core import Issue, Seen
from ..detector import Remembering, Setting
from ..history import push


class Rounds(Struct):
    """(call, outcome, step) of the last turns."""

    recent: list[tuple[int, int, int]] = field(default_factory=list)


class Loop(Remembering[Rounds]):
    """Counts how often the very same thing was achieved."""

    type = "loop"

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, Rounds())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        turn = self.history.turn
        if turn is None:
            return ()
        push(self.state.recent, (turn.call.key, turn.outcome, turn.step), 2 * self.tuning.critical_after)
        steps = [step for key, outcome, step in self.state.recent if key == turn.call.key and outcome == turn.outcome]
        severity = self.tuning.severity(len(steps))
        if severity is None:
            return ()
        return (
            self.issue(
                turn.step,
                f"{turn.call.tool} was called {len(steps)} times with the same outcome. Take a different approach.",
                key=f"{turn.call.tool}:{turn.call.key:x}",
                severity=severity,
                confidence=self.tuning.confidence(len(steps)),
                evidence=steps,
                details={"count": len(steps), "tool": turn.call.tool},
            ),
        )


detector = Loop
