"""Broken calls: one call after the other whose arguments are garbled, so that it does nothing."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from ...core import Issue, Seen, Stuck
from ..agent_history import push
from ..detector import Setting, StatefulDetector
from ..garbled import ADVICE, Garble, read_garble

TOOLS = 32
"""Tools remembered."""


class Calls(Struct):
    """(step, batch, how it is broken) of the last calls; the tools that were called with arguments."""

    recent: list[tuple[int, int, Garble]] = field(default_factory=list)
    known: list[str] = field(default_factory=list)


class BrokenCalls(StatefulDetector[Calls]):
    """Most of the last calls are broken: the agent does not see that nothing happens."""

    type = "broken_calls"
    kinds = frozenset(("tool_call",))

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, Calls())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        tool, call = seen.step.tool, self.history.call
        if tool is None or call is None:
            return ()
        garble = read_garble(tool)
        recent, known, tuning = self.state.recent, self.state.known, self.tuning
        if tool.arguments and tool.name not in known:
            push(known, tool.name, TOOLS)
        elif garble == "empty" and tool.name not in known:
            garble = ""  # a tool that takes none
        push(recent, (call.step, call.batch, garble), tuning.broken_window)
        if not garble:
            return ()
        broken = [one for one in recent if one[2]]
        if len(broken) < tuning.broken_calls or len({batch for _, batch, _ in broken}) < 2:
            return ()  # calls made at once are one try
        # An agent that breaks its calls in several ways reads about the one that it used most.
        kinds = [kind for *_, kind in broken]
        most = max(dict.fromkeys(kinds), key=kinds.count)
        return (
            self.issue(
                call.step,
                f"{len(broken)} of the last {len(recent)} calls are garbled: {ADVICE[most]}. "
                "Send the plain value only, and check that something happened before you go on.",
                key=most,
                severity="high" if len(broken) >= tuning.broken_window else "medium",
                confidence=0.9,
                evidence=[step for step, *_ in broken],
                details={"count": len(broken), "tool": tool.name, "how": most},
                stuck=Stuck(kind="pattern", key="broken calls", tool=tool.name),
            ),
        )

    def shows(self, stuck: Stuck, standing: bool) -> bool:
        """One more broken call."""
        call, recent = self.history.call, self.state.recent
        return call is not None and bool(recent) and recent[-1][0] == call.step and bool(recent[-1][2])


detector = BrokenCalls
