"""Recurrence: counts a repeated event through a run at constant cost."""

from __future__ import annotations

from msgspec import Struct, field

THREADS = 64
"""Events tracked at once; the least recent is dropped first."""
STEPS = 8
"""Steps kept as evidence."""


class Recurrence(Struct):
    """How often the event occurred, when it began, and the counters as of its last occurrence."""

    count: int = 0
    started: int = 0
    turn: int = 0
    fresh: int = 0
    writes: int = 0
    rounds: int = 0
    close: int = 0
    prompts: int = 0
    gains: int = 0
    batch: int = -1
    steps: list[int] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)

    def add(self, step: int, batch: int = -1) -> None:
        """Count one more occurrence; calls of one batch count once."""
        if self.count == 0:
            self.started = step
        elif batch == self.batch >= 0:
            return
        self.batch = batch
        self.count += 1
        self.steps.append(step)
        if len(self.steps) > STEPS:
            # The first step stays: it shows where the trouble began.
            del self.steps[1]

    def clear(self) -> None:
        """Start counting from zero."""
        self.count = self.rounds = self.close = 0
        self.steps.clear()
        self.turns.clear()


def follow(threads: dict[int, Recurrence], key: int) -> Recurrence:
    """The recurrence for a key, moved to the end as the most recent."""
    thread = threads.pop(key, None) or Recurrence()
    threads[key] = thread
    if len(threads) > THREADS:
        del threads[next(iter(threads))]
    return thread
