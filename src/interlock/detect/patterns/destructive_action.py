"""Destructive action: what the reviewer would block, seen after the fact."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ...contract import PREFIX
from ...core import Issue, Seen
from ..detector import Setting, StatefulDetector


class NoState(Struct):
    """No state: once is enough."""


class DestructiveAction(StatefulDetector[NoState]):
    """Raises at once for a call whose review says block."""

    type = "destructive_action"
    kinds = frozenset(("tool_call",))

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, NoState())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        step, review = seen.step, seen.review
        if step.kind != "tool_call" or step.tool is None or review is None or review.verdict != "block":
            return ()
        if review.rules and all(rule.startswith(PREFIX) for rule in review.rules):
            # Outside of what was agreed, which is scope creep.
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


detector = DestructiveAction
