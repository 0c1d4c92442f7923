"""The outcome of the faults, one by one and in total, and every verdict with its time."""

from __future__ import annotations

import math
import statistics
import threading
from collections.abc import Callable, Sequence

from msgspec import Struct

from ...core import Clock
from ..analyzer.evidence import AnalysisResult
from ..analyzer.local import LocalAnalyzer
from ..screenshot.screenshot import Screenshot


class FaultReport(Struct, frozen=True):
    """The outcome of one fault."""

    kind: str
    detected: bool
    recovered: bool
    detect_s: float | None = None
    recover_s: float | None = None
    verdict: str = ""

    def says(self) -> str:
        """The fault in one line."""
        if not self.detected:
            return f"{self.kind}: NOT detected"
        how = f"recovered after {self.recover_s:.1f} s" if self.recover_s is not None else "NOT recovered"
        return f"{self.kind}: detected after {self.detect_s:.2f} s, {how} ({self.verdict})"


class ChaosReport(Struct, frozen=True):
    """The outcome of all faults. `looks` counts the checks while text was typed undisturbed, `alarms` are false."""

    reports: Sequence[FaultReport]
    looks: int
    alarms: Sequence[str] = ()
    exact: bool = True
    sessions: int = 0

    def summary(self) -> dict[str, object]:
        """The totals, for the last line of `--json`."""
        times = [report.detect_s for report in self.reports if report.detect_s is not None]
        return {
            "faults": len(self.reports),
            "detected": sum(report.detected for report in self.reports),
            "recovered": sum(report.recovered for report in self.reports),
            "false_alarms": len(self.alarms),
            "looks": self.looks,
            "median_detect_s": round(statistics.median(times), 3) if times else None,
        }

    def rows(self) -> list[list[str]]:
        """One row per kind of fault."""
        rows = []
        for kind in dict.fromkeys(report.kind for report in self.reports):
            of_kind = [report for report in self.reports if report.kind == kind]
            counts = (len(of_kind), sum(one.detected for one in of_kind), sum(one.recovered for one in of_kind))
            times = ([one.detect_s for one in of_kind], [one.recover_s for one in of_kind])
            rows.append([kind, *map(str, counts), *map(_seconds, times)])
        return rows


def _seconds(times: Sequence[float | None]) -> str:
    known = [time for time in times if time is not None]
    return f"{statistics.median(known):.2f} s" if known else "-"


class LoggedVerdict(Struct, frozen=True):
    """One verdict; `began` and `time` are monotonic."""

    began: float
    time: float
    result: AnalysisResult

    @property
    def alarm(self) -> str:
        """The problem that it saw; empty if none."""
        return f"{self.result.status.value}: {self.result.description}" if self.result.is_problem else ""


class VerdictLog:
    """An analyzer that logs every verdict of another one."""

    def __init__(self, analyzer: LocalAnalyzer, clock: Clock) -> None:
        self._analyzer, self._clock = analyzer, clock
        self._lock = threading.Lock()
        self._verdicts: list[LoggedVerdict] = []

    def analyze(self, screenshot: Screenshot, context: object = None) -> AnalysisResult:
        began = self._clock.monotonic()
        result = self._analyzer.analyze(screenshot, context)
        with self._lock:
            self._verdicts.append(LoggedVerdict(began, self._clock.monotonic(), result))
        return result

    def settle(self, capture: Callable[[], Screenshot | None], context: object, give_up: Callable[[], bool]) -> bool:
        return self._analyzer.settle(capture, context, give_up)

    def tried(self, result: AnalysisResult, helped: bool) -> None:
        self._analyzer.tried(result, helped)

    def between(self, start: float, end: float = math.inf) -> list[LoggedVerdict]:
        """The checks that lie entirely between two moments."""
        with self._lock:
            return [verdict for verdict in self._verdicts if verdict.began >= start and verdict.time <= end]

    def ended_since(self, moment: float) -> list[LoggedVerdict]:
        """The checks whose verdict came after a moment."""
        with self._lock:
            return [verdict for verdict in self._verdicts if verdict.time > moment]
