"""RunState: a run as the pure rooms see it, one frozen value."""

from __future__ import annotations

from msgspec import Struct

from .checkpoint import CheckpointInfo
from .context import Context
from .intervention import Intervention
from .issue import Issue
from .limits import Growth, Limits, Spend
from .run import Status

HISTORY = 50
"""How many issues, interventions and actions are kept in memory; the journal has them all."""


class Action(Struct, frozen=True, omit_defaults=True):
    """A recent action in one line, for reports."""

    step: int
    text: str
    error: bool | None = None
    time: float | None = None


class RunState(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What interventions work on. Bounded: tuples hold the newest HISTORY entries, newest last.

    `windowed` names the limits that count per metrics window instead of per run; `reinforced` holds digests of the
    reinforcement texts that are in the conversation already; `reachable` says that a person can be asked.
    """

    run_id: str
    status: Status = "running"
    step: int = 0
    context: Context = Context()
    limits: Limits = Limits()
    spend: Spend = Spend()
    growth: Growth = Growth()
    checkpoints: tuple[CheckpointInfo, ...] = ()
    issues: tuple[Issue, ...] = ()
    interventions: tuple[Intervention, ...] = ()
    actions: tuple[Action, ...] = ()
    rollbacks: int = 0
    throttled: bool = False
    started: float | None = None
    windowed: tuple[str, ...] = ()
    reinforced: tuple[str, ...] = ()
    reachable: bool = False
