"""AutoAnalyzer: local first, then a small model, then a large one, each only if the one before cannot decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ..screenshot.screenshot import Screenshot
from .result import AnalysisResult, ReplayStatus


class Analyzer(Protocol):
    """Says what a picture shows; never raises."""

    def analyze(self, screenshot: Screenshot, context: object = None) -> AnalysisResult: ...


class AskingAnalyzer(Protocol):
    """An analyzer that takes other sources' word along."""

    def analyze(
        self, screenshot: Screenshot, context: object = None, evidence: Sequence[str] = ()
    ) -> AnalysisResult: ...

    def stop(self) -> None: ...

    def start(self) -> None: ...


class AutoAnalyzer:
    """Climbs in cost only as needed. `models` are asked in order, the smallest first."""

    def __init__(self, local: Analyzer, models: Sequence[AskingAnalyzer], threshold: float = 0.85) -> None:
        self.local, self._models, self._threshold = local, tuple(models), threshold

    def analyze(self, screenshot: Screenshot, context: object = None) -> AnalysisResult:
        best = self.local.analyze(screenshot, context)
        evidence = best.evidence
        for model in self._models:
            if self._is_decided(best):
                break
            asked = model.analyze(screenshot, context, evidence)
            if asked.status is not ReplayStatus.UNKNOWN or best.status is ReplayStatus.UNKNOWN:
                best = asked
        return best

    def settle(
        self, capture: Callable[[], Screenshot | None], context: object, give_up: Callable[[], bool]
    ) -> bool | None:
        """Wait for a normal screen without asking a model; None if the local part cannot."""
        wait = getattr(self.local, "settle", None)
        return bool(wait(capture, context, give_up)) if wait is not None else None

    def tried(self, result: AnalysisResult, helped: bool) -> None:
        tell = getattr(self.local, "tried", None)
        if tell is not None:
            tell(result, helped)

    def stop(self) -> None:
        for model in self._models:
            model.stop()

    def start(self) -> None:
        for model in self._models:
            model.start()

    def _is_decided(self, result: AnalysisResult) -> bool:
        if result.status is ReplayStatus.NORMAL:
            return True
        return result.status is not ReplayStatus.UNKNOWN and result.confidence >= self._threshold
