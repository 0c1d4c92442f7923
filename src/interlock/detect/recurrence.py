"""Recurrence: one thing that happens again, followed through a run at constant cost."""

from __future__ import annotations

from msgspec import Struct, field

THREADS = 64
"""Things followed at once; the one that rested longest is dropped first."""
STEPS = 8
"""Steps kept as evidence."""


class Recurrence(Struct):
    """How often it came, when it began, and what had happened by the last time."""

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
        """One more time; calls of one batch are one time."""
        if self.count == 0:
            self.started = step
        elif batch == self.batch >= 0:
            return
        self.batch = batch
        self.count += 1
        self.steps.append(step)
        if len(self.steps) > STEPS:
            # The first one stays: it shows where the trouble began.
            del self.steps[1]

    def clear(self) -> None:
        """Begin anew."""
        self.count = self.rounds = self.close = 0
        self.steps.clear()
        self.turns.clear()


def follow(threads: dict[int, Recurrence], key: int) -> Recurrence:
    """The thread of a key, moved to the end of the line."""
    thread = threads.pop(key, None) or Recurrence()
    threads[key] = thread
    if len(threads) > THREADS:
        del threads[next(iter(threads))]
    return thread
