"""AgentDetectors: one agent's history, detectors and alarms; alarms are raised once, and again only if they worsen."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from ..core import SEVERITIES, Context, Issue, Kind, Sign, Step, Stuck, from_msgpack
from .completed_call import read_call
from .detector import EVERY_KIND, Asked, Detector, Factory, Setting, StatefulDetector
from .stuck_tracking import follow


class SavedAgent(Struct):
    """The stored state of one agent's history, detectors and alarms."""

    history: bytes
    detectors: dict[str, bytes]
    alarms: bytes
    last: tuple[int, str, str] | None


class AgentDetectors:
    """One agent's history, detectors and alarms."""

    def __init__(self, setting: Setting, factories: Iterable[Factory], dropped: Collection[str] = ()) -> None:
        self.history = setting.history
        self.alarms = Alarms()
        self.detectors: dict[str, Detector] = {}
        self._setting = setting
        self._factories: dict[str, Factory] = {}
        for make in factories:
            detector = make(setting)
            name, at = detector.type, 2
            while name in self.detectors:
                name, at = f"{detector.type}#{at}", at + 1
            self.detectors[name] = detector
            self._factories[name] = make
        self.asked: dict[Kind, list[Asked]] = {}
        self.refusals: list[Asked] = []
        self.drop(dropped)
        self._last: tuple[int, str, str] | None = None

    def drop(self, names: Collection[str]) -> None:
        """Drop the named detectors; dispatch steps to the others by step kind."""
        self.asked = {kind: [] for kind in EVERY_KIND}
        self.refusals = []
        for name, detector in self.detectors.items():
            if name not in names:
                asked = name, detector.observe
                if getattr(detector, "refusals", False):
                    self.refusals.append(asked)
                for kind in getattr(detector, "kinds", EVERY_KIND):
                    self.asked[kind].append(asked)

    def learn_task(self, context: Context) -> None:
        """Pass the updated task to every detector."""
        self._setting = replace(self._setting, context=context)
        for detector in self.detectors.values():
            if isinstance(detector, StatefulDetector):
                detector.learn_task(context)

    def repeats(self, step: Step) -> bool:
        """Whether this step was seen before, because a stream was retried."""
        mark = (step.index, step.role, step.kind)
        if mark == self._last:
            return True
        self._last = mark
        if step.tool is None or step.tool.call_id is None:
            return False
        call_id = step.tool.call_id
        for call in self.history.past.pending:
            if call.call_id == call_id:
                return step.kind == "tool_call" and call.key == read_call(step, step.tool).key
        return step.kind == "tool_result" and any(turn.call_id == call_id for turn in self.history.turns)

    def follow(self, stuck: Stuck, issue_type: str, step: Step, standing: bool) -> tuple[Stuck, Sign | None]:
        """Update `stuck` with this step; return whether the step shows the problem again, or that it is over."""
        detector = self.detectors.get(issue_type)
        shown = detector.shows(stuck, standing) if isinstance(detector, StatefulDetector) else standing
        spoke = step.kind == "message" and step.role == "assistant"
        return follow(stuck, self.history, shown=shown, spoke=spoke)

    def restart(self, issue_type: str) -> None:
        for name, detector in self.detectors.items():
            if detector.type == issue_type:
                detector.restore(self._factories[name](self._setting).save())
        self.alarms.forget(issue_type)

    def save(self) -> SavedAgent:
        states = {name: detector.save() for name, detector in self.detectors.items()}
        return SavedAgent(self.history.save(), states, self.alarms.save(), self._last)

    def restore(self, saved: SavedAgent) -> None:
        self.history.restore(saved.history)
        for name, state in saved.detectors.items():
            if name in self.detectors:
                self.detectors[name].restore(state)
        self.alarms.restore(saved.alarms)
        self._last = saved.last


KEPT = 64
"""Reported findings kept per agent."""

COMBINED: tuple[tuple[str, str, float], ...] = (
    ("repetitive_errors", "exploration_wandering", 1.5),
    ("resource_spiral", "goal_drift", 2.0),
    ("hallucination", "scope_creep", 1.8),
)
"""Pairs of patterns that reinforce each other, and the factor by which confidence rises."""

TOGETHER = 20
"""Maximum distance in steps at which two patterns reinforce each other."""


class ReportedFinding(Struct):
    """The severity at which a finding was reported, and the step."""

    severity: int
    step: int


class AlarmState(Struct):
    """Reported findings by key, and the step at which each type was last seen."""

    told: dict[str, ReportedFinding] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)


class Alarms:
    """Tells which of the current issues are new."""

    def __init__(self) -> None:
        self._memory = AlarmState()

    def rise(self, issues: list[Issue]) -> list[Issue]:
        """The issues that are new or worse than reported; confidence is higher where a related pattern was seen."""
        memory = self._memory
        for issue in issues:
            memory.last[issue.type] = issue.step
        return [self._combined(issue) for issue in issues if self._news(issue)]

    def forget(self, issue_type: str) -> None:
        """Forget what was reported of a type, so that it is counted from zero."""
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
        # A problem that began after the last alarm is new, even under the same key.
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
