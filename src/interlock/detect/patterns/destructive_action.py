"""Destructive action: a call that the reviewer would block, detected after the fact."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ...contract import PREFIX
from ...core import Issue, Seen, Tool
from ..agent_history import file_name
from ..detector import Setting, StatefulDetector
from ..effect import emptied_paths, is_shell, reading_of


class NoState(Struct):
    """No state: one occurrence is enough."""


class DestructiveAction(StatefulDetector[NoState]):
    """Raises an alarm immediately for a call whose review says block."""

    type = "destructive_action"
    kinds = frozenset(("tool_call",))

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, NoState())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        step, review = seen.step, seen.review
        if step.kind != "tool_call" or step.tool is None:
            return ()
        if review is None or review.verdict != "block":
            call = self.history.call
            return self._emptied(step.index, step.tool) if call is not None and call.effect == "write" else ()
        if review.rules and all(rule.startswith(PREFIX) for rule in review.rules):
            # It only breaks the contract, which is scope creep.
            return ()
        why = review.reason.rstrip(". ") or "blocked by review"
        advice = f" {review.instead}" if review.instead else ""
        return (
            self.issue(
                step.index,
                f"{step.tool.name} did something dangerous: {why}.{advice}",
                key=f"{step.tool.name}:{','.join(review.rules) or 'risk'}",
                severity="critical" if review.risk >= 0.95 else "high",
                confidence=1.0,
                impact=review.risk,
                evidence=(step.index,),
                details={"rules": list(review.rules), "tool": step.tool.name, "instead": review.instead},
            ),
        )

    def _emptied(self, step: int, tool: Tool) -> tuple[Issue, ...]:
        """A redirection that empties a file which the run has read but never written."""
        if not self.history.ledger.read or not is_shell(reading := reading_of(tool)):
            return ()
        lost = [path for path in emptied_paths(reading) if self._foreign(file_name(path))]
        if not lost:
            return ()
        return (
            self.issue(
                step,
                f"{tool.name} empties {lost[0]}, which this run has read and did not write. "
                "Write to another file first, look at it, then replace the original.",
                key=f"emptied:{lost[0]}",
                severity="high",
                confidence=0.9,
                impact=0.7,
                evidence=(step,),
                details={"path": lost[0], "tool": tool.name, "instead": "write to another file first"},
            ),
        )

    def _foreign(self, name: str) -> bool:
        done = self.history.ledger
        return name in done.read and name not in done.written


detector = DestructiveAction
