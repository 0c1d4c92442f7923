"""Broken calls: consecutive calls with garbled arguments, which do nothing."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from ...core import Issue, Seen, Stuck, Tool
from ..agent_history import push
from ..completed_call import CompletedCall
from ..detector import Setting, StatefulDetector
from ..garbled import ADVICE, Garble

TOOLS = 32
"""Tools remembered."""


class Calls(Struct):
    """(step, batch, how it is broken) of the last calls; the tools that were called with arguments."""

    recent: list[tuple[int, int, Garble]] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    unsettled: int = 0


class BrokenCalls(StatefulDetector[Calls]):
    """Most of the last calls are broken: the agent does not notice that nothing happens."""

    type = "broken_calls"
    kinds = frozenset(("tool_call", "tool_result"))

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, Calls())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        turn = self.history.turn
        if turn is not None:
            return self._told(turn.step, turn.tool) if self.state.unsettled and self._settle(turn) else ()
        tool, call = seen.step.tool, self.history.call
        if tool is None or call is None:
            return ()
        garble = self._garble(tool, call.garble)
        self.state.unsettled += garble == "first line"
        push(self.state.recent, (call.step, call.batch, garble), self.tuning.broken_window)
        return self._told(call.step, tool.name) if garble and garble != "first line" else ()

    def _garble(self, tool: Tool, garble: Garble) -> Garble:
        known = self.state.known
        if tool.arguments and tool.name not in known:
            push(known, tool.name, TOOLS)
        return "" if garble == "empty" and tool.name not in known else garble

    def _settle(self, turn: CompletedCall) -> bool:
        """Whether a call with a garbled first line turns out to be broken."""
        recent = self.state.recent
        for at, (step, batch, garble) in enumerate(recent):
            if step == turn.asked and garble == "first line":
                recent[at] = (step, batch, "colon" if turn.failed else "")
                self.state.unsettled -= 1
                return turn.failed
        return False

    def _told(self, step: int, tool: str) -> tuple[Issue, ...]:
        recent, tuning = self.state.recent, self.tuning
        broken = [one for one in recent if one[2] and one[2] != "first line"]
        if len(broken) < tuning.broken_calls or len({batch for _, batch, _ in broken}) < 2:
            return ()  # calls of one batch are one attempt
        # For an agent that breaks calls in several ways, report the most frequent one.
        kinds = [kind for *_, kind in broken]
        most = max(dict.fromkeys(kinds), key=kinds.count)
        return (
            self.issue(
                step,
                f"{len(broken)} of the last {len(recent)} calls are garbled: {ADVICE[most]}. "
                "Send the plain value only, and check that something happened before you continue.",
                key=most,
                severity="high" if len(broken) >= tuning.broken_window else "medium",
                confidence=0.9,
                evidence=[step for step, *_ in broken],
                details={"count": len(broken), "tool": tool, "how": most},
                stuck=Stuck(kind="pattern", key="broken calls", tool=tool),
            ),
        )

    def shows(self, stuck: Stuck, standing: bool) -> bool:
        """Whether the call that just got its result was broken."""
        turn = self.history.turn
        return turn is not None and any(step == turn.asked and garble for step, _, garble in self.state.recent)


detector = BrokenCalls
