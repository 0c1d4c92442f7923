"""What supervision writes into the journal, kind by kind."""

from __future__ import annotations

from msgspec import Struct

from ..core import Applied, Decision, Directive, Intervention, Review, Step


class StepRecord(Struct, frozen=True, omit_defaults=True):
    """kind `step`: a step as admitted, the review that it got, and what was decided where that was not to proceed.

    `unobserved` says that supervision was broken when it came, `stalled` that the run was not on the way forward after
    it. `cost_usd` is what it cost by the price list, where its usage does not say. `absent` are files that it claims
    and that are missing.
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
    """kind `applied`: how a directive went."""

    directive: Directive
    applied: Applied
    intervention_id: str | None = None


class RestoredRecord(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """kind `restored`: the workspace went back to a checkpoint."""

    checkpoint_id: str
    safety_id: str
    changed: tuple[str, ...] = ()
    left_alone: tuple[str, ...] = ()
    by: str = "interlock"


class SnapshotRecord(Struct, frozen=True):
    """kind `snapshot`: the whole state of supervision, so that a successor need not read from the beginning."""

    watch: bytes
    next_index: int


class LimitRecord(Struct, frozen=True, omit_defaults=True):
    """kind `limit`: a limit that was set, or that made the run wait, or that ended it."""

    what: str
    limit: str = ""
    seconds: float = 0.0
