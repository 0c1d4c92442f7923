"""Repetitive errors: the same failure again and again, whatever the call and whatever lies between."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from ...core import Issue, Seen
from ..detector import Remembering, Setting
from ..history import push


class Failures(Struct):
    """(turn number, error, step) of the last failures, and how often each came in a row of windows."""

    turns: int = 0
    recent: list[tuple[int, int, int]] = field(default_factory=list)


class RepetitiveErrors(Remembering[Failures]):
    """Counts a normalised error; it goes on as long as no window passes without it."""

    type = "repetitive_errors"

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, Failures())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        turn = self.history.turn
        if turn is None:
            return ()
        state, window = self.state, self.tuning.error_window
        state.turns += 1
        if not turn.failed:
            return ()
        push(state.recent, (state.turns, turn.error, turn.step), window)
        steps = [step for at, error, step in state.recent if error == turn.error and at > state.turns - window]
        severity = self.tuning.severity(len(steps))
        if severity is None:
            return ()
        message = turn.message.splitlines()[0] if turn.message else "an error"
        return (
            self.issue(
                turn.step,
                f"The same error came {len(steps)} times: {message}. Find its cause before trying again.",
                key=f"{turn.error:x}",
                severity=severity,
                confidence=self.tuning.confidence(len(steps)),
                evidence=steps,
                details={"count": len(steps), "error": turn.message, "tool": turn.call.tool},
            ),
        )


detector = RepetitiveErrors
