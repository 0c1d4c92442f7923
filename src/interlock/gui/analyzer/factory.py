"""Which analyzer the configuration asks for."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from ...config import Gui, ModelInfo
from ...journal_records import GuiModelCallRecord
from .auto import Analyzer, AutoAnalyzer
from .budget import QuestionBudget
from .claude import ClaudeAnalyzer


def create_analyzer(
    config: Gui,
    local: Analyzer,
    on_call: Callable[[GuiModelCallRecord], None] | None = None,
    more_models: Sequence[ModelInfo] = (),
) -> tuple[Analyzer, QuestionBudget]:
    """The analyzer and the budget of its questions. Without a key, `auto` is local; `claude` is an error."""
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
