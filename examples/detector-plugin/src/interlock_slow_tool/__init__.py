"""Slow tool: the same tool takes longer from call to call."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from interlock.core import Issue, Seen
from interlock.detect import Setting, StatefulDetector

CALLS = 4
"""Calls in a row that have to be slower, each than the one before."""
SLOW_MS = 5_000
"""What the last of them takes at least; below that nobody waits."""


class Durations(Struct):
    """(step, milliseconds) of the last calls, by tool."""

    tools: dict[str, list[tuple[int, float]]] = field(default_factory=dict)


class SlowTool(StatefulDetector[Durations]):
    """Keeps the last durations of each tool."""

    type = "slow_tool"

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, Durations())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        step, turn = seen.step, self.history.turn
        if turn is None or step.duration_ms is None:
            return ()
        recent = self.state.tools.setdefault(turn.tool, [])
        if recent and step.duration_ms <= recent[-1][1]:
            recent.clear()
        recent.append((step.index, step.duration_ms))
        del recent[:-CALLS]
        if len(recent) < CALLS or step.duration_ms < SLOW_MS:
            return ()
        return (
            self.issue(
                step.index,
                f"{turn.tool} takes longer with every call, now {step.duration_ms / 1000:.0f} s. "
                "Ask it for less at a time.",
                key=turn.tool,
                evidence=[at for at, _ in recent],
                details={"tool": turn.tool},
            ),
        )
