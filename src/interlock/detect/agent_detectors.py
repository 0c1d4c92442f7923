"""Watched agent: one agent's history, its detectors and its alarms: reported once, and again only when worse."""

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
    """Everything that its next answers depend on."""

    history: bytes
    detectors: dict[str, bytes]
    alarms: bytes
    last: tuple[int, str, str] | None


class AgentDetectors:
    """One agent: its history, its detectors, its alarms."""

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
        self.drop(dropped)
        self._last: tuple[int, str, str] | None = None

    def drop(self, names: Collection[str]) -> None:
        """Ask every detector but these, each about the kinds of step that it looks at."""
        self.asked = {kind: [] for kind in EVERY_KIND}
        for name, detector in self.detectors.items():
            if name not in names:
                asked = name, detector.observe
                for kind in getattr(detector, "kinds", EVERY_KIND):
                    self.asked[kind].append(asked)

    def learn_task(self, context: Context) -> None:
        """Tell every detector what the run is for, now that more of it is known."""
        self._setting = replace(self._setting, context=context)
        for detector in self.detectors.values():
            if isinstance(detector, StatefulDetector):
                detector.learn_task(context)

    def repeats(self, step: Step) -> bool:
        """Whether a retried stream shows this step a second time."""
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
        """What this step says about something that the agent is stuck on."""
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
