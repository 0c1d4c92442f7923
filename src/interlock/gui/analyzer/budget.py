"""Limits on a session's model calls: how many, at what cost, and who may call next while the API is rate limited."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from ...config import ScreenModel

PROMPT_TOKENS = 1500
"""An upper bound for prompt and schema."""


class QuestionBudget:
    """Counts questions and dollars of a session; thread-safe."""

    def __init__(self, max_checks: int = 200, max_cost_usd: float = 2.0) -> None:
        self.max_checks, self.max_cost_usd = max_checks, max_cost_usd
        self.checks, self.cost_usd = 0, 0.0
        self.input_tokens = self.output_tokens = 0
        self._lock = threading.Lock()

    def refuses(self, estimate_usd: float) -> str | None:
        """Why the next call is not allowed; None if it is, and then it is counted."""
        with self._lock:
            if self.checks >= self.max_checks:
                return f"the session's {self.max_checks} questions are used up"
            if self.cost_usd + estimate_usd > self.max_cost_usd:
                return f"the session's ${self.max_cost_usd:g} are used up (${self.cost_usd:.4f} spent)"
            self.checks += 1
            return None

    def spend(self, model: ScreenModel, input_tokens: int, output_tokens: int) -> float:
        """Count what a call cost."""
        cost = model.cost(input_tokens, output_tokens)
        with self._lock:
            self.cost_usd += cost
            self.input_tokens += input_tokens
            self.output_tokens += output_tokens
        return cost


def estimate(model: ScreenModel, width: int, height: int, max_tokens: int) -> float:
    """What a call costs at most: a picture counts one token per 28 by 28 pixels."""
    image = -(-width // 28) * -(-height // 28)
    return model.cost(image + PROMPT_TOKENS, max_tokens)


class RequestSlot:
    """A queue of length one: a new ticket replaces the previous waiter."""

    def __init__(self, wait: Callable[[float], bool] | None = None) -> None:
        self._condition = threading.Condition()
        self._newest = 0
        self._not_before = 0.0
        self._stopped = False
        # Tests pass their own: returns at once, True if it was asked to stop.
        self._wait = wait

    def acquire(self) -> int:
        with self._condition:
            self._newest += 1
            self._condition.notify_all()
            return self._newest

    def pause(self, seconds: float) -> None:
        """Block all calls for a while."""
        with self._condition:
            self._not_before = time.monotonic() + seconds
            if self._wait is not None:
                self._stopped = self._wait(seconds) or self._stopped
                self._not_before = 0.0

    def wait(self, ticket: int) -> bool:
        """Wait until calls are allowed; False if a newer ticket was taken, or on stop."""
        with self._condition:
            while not self._stopped and ticket == self._newest:
                left = self._not_before - time.monotonic()
                if left <= 0:
                    return True
                self._condition.wait(left)
            return False

    def start(self) -> None:
        with self._condition:
            self._stopped = False

    def stop(self) -> None:
        with self._condition:
            self._stopped = True
            self._condition.notify_all()
