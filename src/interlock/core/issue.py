"""Issue: a problem found by a detector, with the steps that prove it; Stuck: its subject, for following it later."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

StuckKind = Literal["failure", "repeat", "pattern"]
"""A failing check; a call with the same result again; a pattern that has no call of its own."""

Sign = Literal["again", "changed", "clear", "moved", "better", "solved"]
"""The observation at one opportunity.

`again`: the same thing happened. `changed`: it failed in another way, which counts as neither. `clear`: it did not
happen. `moved`: it ended or moved on by itself, without anything else that the agent did. `better`: it got measurably
better. `solved`: what failed now passes.
"""


class Stuck(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One thing that an agent is stuck on.

    `key` names it within the run, with numbers masked. `program` and `targets` tell which calls are opportunities.
    `marks` are fingerprints of the failures or outcomes that count as the same; `names` of the tests that fail;
    `failures` the fewest failures and `passes` the most passes reported so far. `any_target` says that the same failure
    met different calls.
    `call` is the fingerprint of a call that repeats, `level` the cost of a call that was too expensive.
    `most` is the strongest rung of the ladder that it may get, where that is not the top. `acted` says that the agent
    did something else since the last answer.
    A pattern has an opportunity `every` so many turns, and happened again where `needed` of them showed it. `turns`,
    `bad` and `gained` are counted since the last opportunity.
    """

    kind: StuckKind
    key: str
    tool: str = ""
    program: str = ""
    targets: tuple[str, ...] = ()
    marks: tuple[int, ...] = ()
    names: tuple[int, ...] = ()
    failures: int | None = None
    passes: int | None = None
    place: str = ""
    any_target: bool = False
    call: int = 0
    level: float = 0.0
    every: int = 3
    needed: int = 1
    turns: int = 0
    bad: int = 0
    gained: bool = False
    most: int | None = None
    acted: bool = False

    @property
    def check(self) -> str:
        """A short description of the check or call."""
        return " ".join((self.program or self.tool, *self.targets[:2])).strip()


Severity = Literal["low", "medium", "high", "critical"]

SEVERITIES: tuple[Severity, ...] = get_args(Severity)

REPETITIVE_ERRORS = "repetitive_errors"
LOOP = "loop"
SCOPE_CREEP = "scope_creep"
GOAL_DRIFT = "goal_drift"
RESOURCE_SPIRAL = "resource_spiral"
EXPLORATION_WANDERING = "exploration_wandering"
HALLUCINATION = "hallucination"
DESTRUCTIVE_ACTION = "destructive_action"
LONG_WAIT = "long_wait"
BROKEN_CALLS = "broken_calls"

ISSUE_TYPES = (
    REPETITIVE_ERRORS, LOOP, SCOPE_CREEP, GOAL_DRIFT, RESOURCE_SPIRAL, EXPLORATION_WANDERING, HALLUCINATION,
    DESTRUCTIVE_ACTION, LONG_WAIT, BROKEN_CALLS,
)  # fmt: skip
"""The built-in types; plug-ins add their own."""


class Issue(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A problem: what, how bad, how sure, and why.

    `id` is stable for the same finding of the same run (`type:started_step:step` where nothing better is available).
    `step` is where the alarm rose, `started_step` where the problem began. A missing severity counts as medium,
    a missing confidence as 1, a missing impact as 0. `stuck` says what it is about, for following it; an issue
    without one is followed by its type.
    """

    id: str
    type: str
    step: int
    description: str
    severity: Severity | None = None
    confidence: float | None = None
    impact_factor: float | None = None
    details: dict[str, object] = {}
    evidence: tuple[int, ...] = ()
    started_step: int | None = None
    agent: str | None = None
    stuck: Stuck | None = None

    @property
    def is_note(self) -> bool:
        """Whether it rests on words: it is recorded, and never answered or counted as an issue."""
        return self.severity == "low" and self.type != LONG_WAIT

    @property
    def began(self) -> int:
        """The step where it began."""
        return self.started_step if self.started_step is not None else min(self.evidence, default=self.step)
