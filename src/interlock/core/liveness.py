"""Liveness: what a run is doing right now, in one word with its evidence."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from msgspec import Struct

LivenessWord = Literal[
    "working",
    "waiting for the model",
    "waiting for a tool",
    "waiting for a person",
    "parked",
    "paused",
    "wedged",
]

WedgedKind = Literal[
    "half-open stream",
    "only pings",
    "client spins",
    "client deadlocked",
    "tool reads the terminal",
    "tool waits for input",
    "tool never ends",
    "pipe held by a child",
    "owner hung",
    "disk full",
    "network gone",
    "empty answers",
    "client prompt",
]
"""The ways in which a run hangs. What only a person can answer is shown as `waiting for a person`, with its kind."""


class Liveness(Struct, frozen=True, omit_defaults=True):
    """One word that is never a guess.

    `since` is when it became true, in seconds since the epoch. `evidence` says what was measured. `question` is the
    text that a person has to answer. `wedged` is the way in which the run hangs. `wake` is when a parked run resumes
    by itself; None where it waits for a person.
    """

    word: LivenessWord
    since: float
    evidence: str = ""
    question: str | None = None
    wedged: WedgedKind | None = None
    wake: float | None = None

    @property
    def words(self) -> str:
        """The word, with the way in which the run hangs or the time of day when it resumes."""
        if self.word == "parked" and self.wake is not None:
            then = datetime.fromtimestamp(self.wake)
            return f"parked until {then:{'%H:%M' if then.date() == datetime.now().date() else '%Y-%m-%d %H:%M'}}"
        if self.word == "parked":
            return "parked: needs you"
        return f"{self.word}: {self.wedged}" if self.wedged else self.word
