"""VerdictLog: every verdict with its time, to distinguish alarms from false alarms."""

from __future__ import annotations

import threading
from collections.abc import Callable

from msgspec import Struct

from ...core import Clock
from ..analyzer.auto import Analyzer
from ..analyzer.result import AnalysisResult
from ..screenshot.screenshot import Screenshot


class LoggedVerdict(Struct, frozen=True):
    """One verdict; `began` and `time` are monotonic."""

    began: float
    time: float
    result: AnalysisResult


class VerdictLog:
    """An analyzer that writes every verdict of another one down."""

    def __init__(self, analyzer: Analyzer, clock: Clock) -> None:
        self._analyzer, self._clock = analyzer, clock
        self._lock = threading.Lock()
        self._looks: list[LoggedVerdict] = []

    def analyze(self, screenshot: Screenshot, context: object = None) -> AnalysisResult:
        began = self._clock.monotonic()
        result = self._analyzer.analyze(screenshot, context)
        with self._lock:
            self._looks.append(LoggedVerdict(began, self._clock.monotonic(), result))
        return result

    def settle(
        self, capture: Callable[[], Screenshot | None], context: object, give_up: Callable[[], bool]
    ) -> bool | None:
        wait = getattr(self._analyzer, "settle", None)
        return bool(wait(capture, context, give_up)) if wait is not None else None

    def tried(self, result: AnalysisResult, helped: bool) -> None:
        tell = getattr(self._analyzer, "tried", None)
        if tell is not None:
            tell(result, helped)

    def since(self, moment: float) -> list[LoggedVerdict]:
        """The looks that began after a moment."""
        with self._lock:
            return [look for look in self._looks if look.began >= moment]

    def ended_since(self, moment: float) -> list[LoggedVerdict]:
        """The looks whose verdict came after a moment."""
        with self._lock:
            return [look for look in self._looks if look.time > moment]

    def between(self, start: float, end: float) -> list[LoggedVerdict]:
        """The looks that are wholly between two moments."""
        with self._lock:
            return [look for look in self._looks if look.began >= start and look.time <= end]
