"""AutoAnalyzer: local first, then a small model, then a large one; and the analyzer that the configuration selects."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from ...config import Gui, ModelInfo
from ...core import BadInput
from ...journal_records import GuiModelCallRecord
from ..screenshot.screenshot import Screenshot
from .budget import QuestionBudget
from .claude import ClaudeAnalyzer
from .evidence import AnalysisResult, ReplayStatus, ScreenSituation
from .local import LocalAnalyzer


class Analyzer(Protocol):
    """Gives a verdict on a screenshot; never raises."""

    def analyze(self, screenshot: Screenshot, context: object = None) -> AnalysisResult: ...


class AutoAnalyzer:
    """Uses costlier analyzers only as needed. `models` are asked in order, the smallest first."""

    def __init__(self, local: Analyzer, models: Sequence[ClaudeAnalyzer], threshold: float = 0.85) -> None:
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
        note = getattr(self.local, "tried", None)
        if note is not None:
            note(result, helped)

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


def create_analyzer(
    config: Gui,
    local: Analyzer,
    on_call: Callable[[GuiModelCallRecord], None] | None = None,
    more_models: Sequence[ModelInfo] = (),
) -> tuple[Analyzer, QuestionBudget]:
    """The analyzer and its budget for model calls. Without an API key, `auto` is local and `claude` an error."""
    budget = QuestionBudget(config.budget.max_checks, config.budget.max_cost_usd)

    def ask(model: str | None, family: str) -> ClaudeAnalyzer:
        threshold = config.confidence_threshold
        return ClaudeAnalyzer(
            None, model, threshold=threshold, budget=budget, family=family, on_call=on_call, more_models=more_models
        )

    if config.analyzer == "claude":
        return ask(config.model, "opus"), budget
    if config.analyzer == "local" or not os.environ.get("ANTHROPIC_API_KEY", "").strip():
        return local, budget
    models = [ask(config.small_model, "haiku"), ask(config.model, "opus")]
    return AutoAnalyzer(local, models, config.confidence_threshold), budget


def read_picture(path: Path) -> Screenshot:
    """A picture from a file; BadInput if it is not a readable image."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            return Screenshot.of_image(image.convert("RGB"), path.stat().st_mtime)
    except FileNotFoundError:
        raise BadInput("the file does not exist", where=str(path)) from None
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
        raise BadInput(f"not a readable image ({error})", where=str(path)) from None


def judge_picture(picture: Screenshot, config: Gui, expected_file: str | None = None) -> AnalysisResult:
    """The configured analyzer's verdict on one picture; a fresh analyzer, so that earlier pictures do not count."""
    return create_analyzer(config, LocalAnalyzer())[0].analyze(picture, ScreenSituation(expected_file))
