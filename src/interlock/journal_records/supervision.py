"""The records of supervision: steps, interventions and their results; the contract, its breaches, and the answers."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ..core import Applied, Contract, Decision, Directive, Intervention, Issue, Review, Severity, Step
from ..proof import ClaimVerdict, TestFact, Verdict


class StepRecord(Struct, frozen=True, omit_defaults=True):
    """kind `step`: a step, its review, and the decision if that was not to proceed.

    `unobserved` says that supervision failed at this step, `stalled` that the step made no progress.
    `cost_usd` is its price by the price list, if its usage has none. `absent` are files that it claims to have
    written and that are missing.
    """

    step: Step
    review: Review | None = None
    decision: Decision | None = None
    unobserved: bool = False
    stalled: bool = False
    cost_usd: float = 0.0
    absent: tuple[str, ...] | None = None


class InterventionRecord(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """kind `intervention`: an answer to an issue, durable before it takes effect."""

    intervention: Intervention
    score: float
    combined: float
    directives: tuple[Directive, ...] = ()
    would: tuple[Directive, ...] = ()
    escalated: bool = False


class AppliedRecord(Struct, frozen=True, omit_defaults=True):
    """kind `applied`: the result of a directive."""

    directive: Directive
    applied: Applied
    intervention_id: str | None = None


class Opinion(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """kind `opinion`: the judge's opinion of a finding, a call or the run's direction; `agrees` is None if its
    answer was not usable. `issue` is one that it raises itself. Without a `model`, the files of the workspace were
    looked up."""

    issue_id: str
    key: str
    model: str
    agrees: bool | None = None
    why: str = ""
    cost_usd: float = 0.0
    issue: Issue | None = None


class RestoredRecord(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """kind `restored`: the workspace was restored to a checkpoint."""

    checkpoint_id: str
    safety_id: str
    changed: tuple[str, ...] = ()
    left_alone: tuple[str, ...] = ()
    by: str = "interlock"


class SnapshotRecord(Struct, frozen=True):
    """kind `snapshot`: the whole state of supervision, so that a successor need not read from the beginning."""

    watch: bytes
    next_index: int


class EpisodeRecord(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """kind `episode`: a problem that opened, was answered or ended; the newest record of an id is its state.

    `what` the agent is stuck on, in a few words; `place` in the code; `rung` of the newest answer; `tokens`, `cost_usd`
    and `calls` were spent since it opened; `ending` is how it ended.
    """

    id: str
    type: str
    what: str
    opened_step: int
    opened_at: float
    issue_id: str
    description: str = ""
    severity: Severity = "medium"
    place: str = ""
    agent: str = ""
    answers: int = 0
    rung: str | None = None
    opportunities: int = 0
    relapses: int = 0
    ending: str | None = None
    tokens: int = 0
    cost_usd: float = 0.0
    calls: int = 0


class PersonRecord(Struct, frozen=True):
    """kind `person`: whether a person can be asked, from now on."""

    reachable: bool


class ProofRecord(Struct, frozen=True, omit_defaults=True):
    """kind `proof`: each claim with its verdict on a tree (a checkpoint's id), and what changed about the tests.

    `step` is the number of steps so far. `contract` has the result of each clause, `ending` what is
    unusual about the end of the run. `run` is the verdict on the run itself, by its `done_when` alone.
    """

    claims: tuple[ClaimVerdict, ...] = ()
    tests: tuple[TestFact, ...] = ()
    tree: str = ""
    step: int = 0
    contract: tuple[str, ...] = ()
    ending: str = ""
    run: Verdict | Literal[""] = ""


SHOWN = 4
"""Paths that one line names."""


class ContractRecord(Struct, frozen=True, omit_defaults=True):
    """kind `contract`: what the run may and must do, from now on.

    `refs` are the branches of its repository.
    """

    contract: Contract
    refs: dict[str, str] = {}


class BreachRecord(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """kind `breach`: a violated clause: files that were restored or left alone; commits and pushes.

    `doubtful`: not a violation, but one cannot be ruled out.
    """

    step: int
    clause: str
    restored: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    safety_id: str = ""
    git: tuple[str, ...] = ()
    doubtful: bool = False

    @property
    def words(self) -> str:
        """What violated the clause, and what was done about it."""
        parts = [f"restored {_some(self.restored)}"] if self.restored else []
        parts += [f"{_some(self.left)} changed and was not restored"] if self.left else []
        return "; ".join([*parts, *self.git[:SHOWN]])


class CommandResult(Struct, frozen=True, omit_defaults=True):
    """One command of `done_when`, as Interlock ran it. Without an exit status, it timed out or could not start.

    `own` is what about a pass is the run's own work, so that it proves nothing; `differs` is what the run changed of
    that which decides the check, although it passes without that.
    """

    command: str
    exit_status: int | None = None
    seconds: float = 0.0
    output: str = ""
    why: str = ""
    own: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return self.exit_status == 0 and not self.why

    @property
    def proves(self) -> bool:
        """Whether it passed, and not by what the run itself changed about it."""
        return self.passed and not self.own

    @property
    def words(self) -> str:
        """The command with its result."""
        if self.proves:
            without = f", also without what the run changed: {_some(self.differs)}" if self.differs else ""
            return f"`{self.command}` passed{without}"
        if self.passed:
            return f"`{self.command}` passed, but as the run's own check: {'; '.join(self.own)}"
        return f"`{self.command}` {self.why or f'failed with exit status {self.exit_status}'}"


class StopGateRecord(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """kind `stop_gate`: the agent said that it is done, and the response.

    `returns` counts how often failing commands went back to the agent; `claims` are those that it was asked to prove.
    """

    step: int
    outcome: Literal["passed", "own_check", "returned", "asked", "unproven", "observed"]
    results: tuple[CommandResult, ...] = ()
    claims: tuple[str, ...] = ()
    returns: int = 0
    tree: str = ""


def _some(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return ", ".join(paths[:SHOWN]) + more
