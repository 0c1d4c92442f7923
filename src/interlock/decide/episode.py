"""Episode: one problem of one agent, from the first alarm until it ends, with every answer to it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..core import (
    BROKEN_CALLS,
    DESTRUCTIVE_ACTION,
    LADDER,
    LONG_WAIT,
    LOOP,
    PAUSE,
    REPETITIVE_ERRORS,
    RESOURCE_SPIRAL,
    Intervention,
    Issue,
    Sign,
    Spend,
    Stuck,
    short_name,
)

Ending = Literal["solved", "improved", "stopped_happening", "new_instructions", "resumed"]
"""How an episode ended: its check passes; it measurably improved; it did not happen again; a person gave the agent new
instructions; a person reviewed it and resumed the run."""

WORKED: dict[Sign, Ending] = {
    "solved": "solved", "better": "improved", "clear": "stopped_happening", "moved": "stopped_happening",
}  # fmt: skip

TOP = len(LADDER) - 1
CLEAR = 3
"""Consecutive opportunities without a recurrence that end an episode."""
CLEAN = 10
"""Clean opportunities after its end that lower a relapse by one rung."""
KEPT_STUCK = 4
"""Maximum number of `Stuck` per episode: a cycle of calls, alternating failures."""
KEPT_STEPS = 32
"""Evidence steps kept, for matching later alarms to the same episode."""
KEPT_MESSAGES = 16


class Episode(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One problem. Closed episodes are kept, so that a relapse is recognized.

    `issue` is the newest alarm of its type, `began` the step where the problem began. `level` is the rung of the newest
    answer, `answer` that answer while its outcome is pending, `due` the rung to be applied as soon as cooldowns allow.
    `again` counts the recurrences since the answer, `passed` the consecutive opportunities without one. `worked` is the
    rung that last helped, `failed` the newest answer that did not.
    """

    id: str
    issue: Issue
    stuck: tuple[Stuck, ...]
    opened_step: int
    opened_at: float
    began: int = 0
    agent: str = ""
    spent: Spend = Spend()
    steps: tuple[int, ...] = ()
    opportunities: int = 0
    level: int | None = None
    due: int | None = None
    postponed: bool = False
    answer: Intervention | None = None
    answers: int = 0
    hints: int = 0
    again: int = 0
    passed: int = 0
    answered_at: float | None = None
    said: tuple[str, ...] = ()
    ending: Ending | None = None
    worked: int | None = None
    failed: str = ""
    relapses: int = 0
    clean: int = 0

    @property
    def open(self) -> bool:
        return self.ending is None

    @property
    def most(self) -> int:
        """The strongest rung that it may get."""
        if self.issue.type == LONG_WAIT:
            return 0
        return min((one.most for one in self.stuck if one.most is not None), default=TOP)

    @property
    def what(self) -> str:
        """What the agent is stuck on, in a few words."""
        checks = (one.check for one in self.stuck if one.kind != "pattern")
        pattern, path = self.issue.type.replace("_", " "), self.issue.details.get("path")
        return next(filter(None, checks), f"{pattern}: {path}" if path else pattern)

    @property
    def place(self) -> str:
        """Where the problem occurs, if its output says so."""
        return next((one.place for one in self.stuck if one.place), "")

    @property
    def standing(self) -> str:
        """What the agent is stuck on and the state of the newest answer, in one line for a list of runs."""
        made = self.answer
        if made is not None and applied(made):
            last = made.type in (PAUSE, LADDER[-1])
            return f"{self.what}, {short_name(made.type)}{'' if last else ' pending'}"
        return f"{self.what}, {short_name(self.failed)} did not work" if self.failed else self.what

    def about(self, issue: Issue) -> bool:
        """Whether an alarm is about this problem."""
        if issue.stuck is None or LONG_WAIT in (issue.type, self.issue.type):
            return issue.type == self.issue.type and (issue.stuck is None or self._names(issue.stuck))
        if self._names(issue.stuck):
            return True
        if self.open and issue.details.get("refused") and any(_runs_the_same(one, issue.stuck) for one in self.stuck):
            return True  # it still asks for the call that it is stuck on
        # An agent that repeats a blocked call has one problem; damage is never merged into another problem.
        refused = self.issue.type == DESTRUCTIVE_ACTION and issue.type in REPEATING
        related = issue.type == self.issue.type or refused or {issue.type, self.issue.type} <= REPEATING
        if not self.open or not related:
            return False
        # What is said before a call and what comes back are one try.
        if not {step + after for step in issue.evidence for after in (0, 1)}.isdisjoint(self.steps):
            return True
        # Alternating calls are one loop; two failing checks are two problems.
        kinds = {issue.stuck.kind, *(known.kind for known in self.stuck)}
        return kinds == {"repeat"} and issue.began <= self.steps[-1]

    def _names(self, stuck: Stuck) -> bool:
        """Whether the episode has the same check with the same failure, the same call, or the same pattern."""
        for known in self.stuck:
            if known.key == stuck.key and known.kind == stuck.kind:
                return True
            if known.kind == stuck.kind == "failure" and known.program == stuck.program:
                if not set(known.marks).isdisjoint(stuck.marks):
                    return True
                if self.open and known.targets == stuck.targets:
                    return True
        return False

    def raised(self, issue: Issue) -> Episode:
        """The episode with one more alarm."""
        stuck = self.stuck
        if issue.stuck is not None and not any(
            known.key == issue.stuck.key and known.kind == issue.stuck.kind for known in stuck
        ):
            stuck = (*stuck, issue.stuck)[-KEPT_STUCK:]
        steps = tuple(dict.fromkeys((*self.steps, *issue.evidence, issue.step)))[-KEPT_STEPS:]
        newest = issue if issue.type == self.issue.type else self.issue
        return replace(self, issue=newest, stuck=stuck, steps=steps)

    def happened(self, step: int) -> Episode:
        """The episode after a recurrence."""
        return replace(
            self,
            again=self.again + 1,
            passed=0,
            clean=0,
            opportunities=self.opportunities + 1,
            steps=(*self.steps, step)[-KEPT_STEPS:],
        )

    def answered(self) -> tuple[Stuck, ...]:
        """What it is stuck on, after an answer: what the agent did before counts no more."""
        return tuple(replace(one, acted=False) if one.acted else one for one in self.stuck)

    def end(self, how: Ending) -> Episode:
        return replace(self, ending=how, due=None, postponed=False, answer=None, again=0, passed=0)

    def reopen(self, issue: Issue, now: float, spent: Spend) -> Episode:
        """The episode reopened after a relapse."""
        back = replace(
            self,
            ending=None,
            relapses=self.relapses + 1,
            clean=0,
            steps=(),
            opportunities=0,
            hints=0,
            opened_step=issue.step,
            opened_at=now,
            began=issue.began,
            level=None,
            failed="",
            spent=spent,
        )
        return back.raised(issue)


def _runs_the_same(one: Stuck, other: Stuck) -> bool:
    return (one.program, one.targets) == (other.program, other.targets) != ("", ())


def applied(made: Intervention) -> bool:
    """Whether an answer took effect: one that could not be applied, or was only observed, did not."""
    return made.outcome not in ("held_back", "not_applied") and not made.reason.startswith("observe: ")


REPEATING = frozenset((BROKEN_CALLS, LOOP, REPETITIVE_ERRORS, RESOURCE_SPIRAL))
"""Types that may have the same cause: an alarm that shares evidence with another belongs to its episode."""
