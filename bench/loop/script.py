"""Script: what a scripted agent does call by call, with the truth that only the script knows."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["stubborn", "heeding", "relapsing", "healthy"]
KINDS: tuple[Kind, ...] = ("stubborn", "heeding", "relapsing", "healthy")

RUNGS = (
    "soft_correction",
    "context_reinforcement",
    "resource_throttling",
    "checkpoint_rollback",
    "emergency_stop",
)
NOTE, HINT, REMINDER, THROTTLE, ROLLBACK = range(-1, 4)
NEVER = len(RUNGS)
"""The rung that no answer reaches: an agent that heeds nothing."""


@dataclass(frozen=True)
class Turn:
    """One call with its result, or (without a tool) something that the agent says.

    Truth: `check` names the problem whose check or call this turn runs, `occurs` says that the problem shows in it,
    `solved` that it is really over or shrinking, `stuck` that the turn brings nothing.
    `seconds` is what the call takes beyond the agent's pace; `writes` are files that it changes.
    """

    tool: str = ""
    arguments: dict[str, object] = field(default_factory=dict)
    output: str = ""
    failed: bool = False
    exit_code: int | None = None
    writes: dict[str, str] = field(default_factory=dict)
    said: str = ""
    agent: str | None = None
    seconds: float = 0.0
    cost_usd: float = 0.0
    output_tokens: int = 250
    check: str | None = None
    occurs: bool = False
    solved: bool = False
    stuck: bool = False


@dataclass(frozen=True)
class Heard:
    """What came back with a turn beside its result: the rungs and texts of interventions, and whether it was denied."""

    levels: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()
    denied: bool = False

    @property
    def level(self) -> int:
        """The strongest rung heard; -1 for none."""
        return max(self.levels, default=-1)


@dataclass
class World:
    """Where an agent works: its folder, its pace, and chance that repeats."""

    folder: str
    pace: float
    chance: random.Random

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}"


Script = Generator[Turn, Heard, None]
Round = Callable[[World, int], list[Turn]]
"""The calls of round i of something that an agent does again and again."""


@dataclass(frozen=True)
class Agent:
    """A scripted agent and what is true of it.

    `answers`: how many a heeding agent needs. `every`: so many turns are one opportunity, where the problem has no
    check of its own. `noticed_by`: the calls within which an alarm must rise, where the script says so. `at_most`: the
    strongest rung that is due, as for waiting; NOTE for none. `hints`: a healthy agent may get as many, where it waits
    for long or its calls end at a limit. `parallel`: a result comes when so many calls are under way.
    `paces`: its own, for an agent that is what it is at one speed only.
    """

    name: str
    kind: Kind
    task: str
    play: Callable[[World], Script]
    about: str
    answers: int = 0
    every: int = 0
    noticed_by: int = 0
    at_most: int = NEVER
    hints: int = 0
    parallel: int = 1
    paces: tuple[float, ...] | None = None


AGENTS: dict[str, Agent] = {}


def add(agent: Agent) -> None:
    """Make an agent known to the bench."""
    if agent.name in AGENTS:
        raise ValueError(f"two agents are named {agent.name!r}")
    AGENTS[agent.name] = agent


def until_told(world: World, rung: int, rounds: Round, *, lag: int = 0, start: int = 0) -> Generator[Turn, Heard, int]:
    """Play rounds until an answer of this rung or a stronger one is heard, then `lag` rounds more.

    Gives the number of the next round.
    """
    number, told = start, False
    while not told:
        for turn in rounds(world, number):
            heard = yield turn
            told = told or heard.level >= rung
            if told and lag == 0:
                break
        number += 1
    for more in range(number, number + lag):
        yield from play_turns(rounds(world, more))
    return number + lag


def play_turns(turns: Iterable[Turn]) -> Script:
    """Play these turns, whatever is heard."""
    for turn in turns:
        _ = yield turn
