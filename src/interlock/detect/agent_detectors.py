"""Watched agent: one agent's history, its detectors and its alarms."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct
from msgspec.structs import replace

from ..core import Context, Kind, Sign, Step, Stuck
from .alarms import Alarms
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
