"""Weather and time of a simulated world."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable

from msgspec import Struct


class Weather(Struct, frozen=True):
    """How bad it is in one world."""

    loss: float
    duplication: float
    delay: float
    first_leg: float
    crash: float
    slow_actuator: float
    broken_actuator: float
    execution: float
    clock_steps: bool
    outages: tuple[tuple[float, float], ...]


CALM = Weather(
    loss=0.0,
    duplication=0.0,
    delay=0.05,
    first_leg=0.01,
    crash=0.0,
    slow_actuator=0.0,
    broken_actuator=0.0,
    execution=5.0,
    clock_steps=False,
    outages=(),
)


def choose_weather(dice: random.Random) -> Weather:
    outages = []
    for _ in range(dice.choice((0, 0, 1, 2))):
        begin = dice.uniform(0, 300)
        outages.append((begin, begin + dice.choice((5.0, 40.0, 330.0)) * dice.uniform(0.2, 1.1)))
    return Weather(
        loss=dice.choice((0.0, 0.05, 0.3)),
        duplication=dice.choice((0.0, 0.1, 0.4)),
        delay=dice.choice((0.05, 2.0, 40.0, 120.0)),
        first_leg=dice.choice((0.01, 1.0, 25.0)),
        crash=dice.choice((0.0, 0.01, 0.05, 0.15)),
        slow_actuator=dice.choice((0.0, 0.0, 1.0, 8.0)),
        broken_actuator=dice.choice((0.0, 0.0, 0.1)),
        execution=dice.choice((0.5, 20.0, 150.0)),
        clock_steps=dice.random() < 0.4,
        outages=tuple(sorted(outages)),
    )


class Timeline:
    """Virtual time: everything that happens is an action at a moment, and all chance comes from one seed."""

    def __init__(self, seed: int, trace: Callable[[str], None] | None = None) -> None:
        self.seed, self.trace = seed, trace
        self.dice = random.Random(seed)
        self.weather = choose_weather(self.dice)
        self.time = 0.0
        self._events: list[tuple[float, int, Callable[..., None], tuple[object, ...]]] = []
        self._count = 0

    def at(self, delay: float, action: Callable[..., None], *args: object) -> None:
        self._count += 1
        heapq.heappush(self._events, (self.time + delay, self._count, action, args))

    def play(self) -> None:
        """Let everything happen."""
        while self._events:
            self.time, _, action, args = heapq.heappop(self._events)
            if self.trace:
                self.trace(f"{self.time:10.4f} {action.__name__} {args!r:.150}")
            action(*args)

    def outage_end(self, moment: float) -> float | None:
        return next((end for begin, end in self.weather.outages if begin <= moment < end), None)
