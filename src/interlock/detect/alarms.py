"""Alarms: an issue is reported once, and again only when it has become worse; combinations raise confidence."""

from __future__ import annotations

import msgspec
from msgspec import Struct, field

from ..core import SEVERITIES, Issue, from_msgpack

KEPT = 64
"""Findings remembered per agent."""

COMBINED: tuple[tuple[str, str, float], ...] = (
    ("repetitive_errors", "exploration_wandering", 1.5),
    ("resource_spiral", "goal_drift", 2.0),
    ("hallucination", "scope_creep", 1.8),
)
"""Two patterns that together mean more than each alone, and by how much."""

TOGETHER = 20
"""Steps within which two patterns count as being there together."""


class ReportedFinding(Struct):
    """What was said of a finding: how bad, and when."""

    severity: int
    step: int


class AlarmState(Struct):
    """Findings by key, and when each type was last seen."""

    told: dict[str, ReportedFinding] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)


class Alarms:
    """Which of the current issues are new."""

    def __init__(self) -> None:
        self._memory = AlarmState()

    def rise(self, issues: list[Issue]) -> list[Issue]:
        """The issues that are new or worse than reported, with confidence raised by what goes with them."""
        memory = self._memory
        for issue in issues:
            memory.last[issue.type] = issue.step
        return [self._combined(issue) for issue in issues if self._news(issue)]

    def forget(self, issue_type: str) -> None:
        """Count a type anew."""
        told = self._memory.told
        for key in [key for key in told if key.partition(":")[0] == issue_type]:
            del told[key]

    def save(self) -> bytes:
        return msgspec.msgpack.encode(self._memory)

    def restore(self, state: bytes) -> None:
        self._memory = from_msgpack(state, AlarmState)

    def _news(self, issue: Issue) -> bool:
        told = self._memory.told
        key = f"{issue.type}:{issue.details.get('key', '')}"
        rank = SEVERITIES.index(issue.severity or "medium")
        before = told.get(key)
        began = issue.started_step if issue.started_step is not None else issue.step
        # Trouble that began after the last alarm is new trouble, even under the same name.
        if before is not None and rank <= before.severity and began <= before.step:
            return False
        told[key] = ReportedFinding(rank, issue.step)
        if len(told) > KEPT:
            del told[next(iter(told))]
        return True

    def _combined(self, issue: Issue) -> Issue:
        factor = 1.0
        for one, other, by in COMBINED:
            partner = other if issue.type == one else one if issue.type == other else None
            if partner is not None:
                seen = self._memory.last.get(partner)
                if seen is not None and issue.step - seen <= TOGETHER:
                    factor = max(factor, by)
        if factor == 1.0:
            return issue
        confidence = 1.0 if issue.confidence is None else issue.confidence
        return msgspec.structs.replace(issue, confidence=min(confidence * factor, 1.0))
