"""QuestionBudget: how many questions a session may ask a model, and for how much."""

from __future__ import annotations

import threading

from ...config import ScreenModel

PROMPT_TOKENS = 1500
"""What prompt and schema come to, generously."""


class QuestionBudget:
    """Counts questions and dollars of a session; thread-safe."""

    def __init__(self, max_checks: int = 200, max_cost_usd: float = 2.0) -> None:
        self.max_checks, self.max_cost_usd = max_checks, max_cost_usd
        self.checks, self.cost_usd = 0, 0.0
        self.input_tokens = self.output_tokens = 0
        self._lock = threading.Lock()

    def refuses(self, estimate_usd: float) -> str | None:
        """Why the next question may not be asked; None if it may, and then it is counted."""
        with self._lock:
            if self.checks >= self.max_checks:
                return f"the session's {self.max_checks} questions are used up"
            if self.cost_usd + estimate_usd > self.max_cost_usd:
                return f"the session's ${self.max_cost_usd:g} are used up (${self.cost_usd:.4f} spent)"
            self.checks += 1
            return None

    def spend(self, model: ScreenModel, input_tokens: int, output_tokens: int) -> float:
        """Count what a question cost."""
        cost = model.cost(input_tokens, output_tokens)
        with self._lock:
            self.cost_usd += cost
            self.input_tokens += input_tokens
            self.output_tokens += output_tokens
        return cost


def estimate(model: ScreenModel, width: int, height: int, max_tokens: int) -> float:
    """What a question costs at most: a picture counts one token per 28 by 28 pixels."""
    image = -(-width // 28) * -(-height // 28)
    return model.cost(image + PROMPT_TOKENS, max_tokens)
