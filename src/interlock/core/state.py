"""RunState: a run as the pure packages see it, one frozen value; CheckpointInfo: the data of a checkpoint."""

from __future__ import annotations

from msgspec import Struct

from .context import Context
from .intervention import Intervention
from .issue import Issue
from .limits import Growth, Limits, Spend
from .run import Status


class CheckpointInfo(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One checkpoint: when, why, how large, how healthy the run was.

    `step` is the index of the first step that came after it: 0 for one made before the run's first step.
    `success_rate` is the share of the last 20 tool results without error (1 when there were none);
    `last_error_time` the time of the last error before it; `limits` and `context` are the run's at its time;
    `parent` is the checkpoint that the workspace came from.
    """

    id: str
    time: float
    step: int
    label: str = ""
    cause: str = ""
    files: int = 0
    bytes: int = 0
    not_covered: tuple[str, ...] = ()
    basis: str = "walk"
    success_rate: float = 1.0
    last_error_time: float | None = None
    limits: Limits | None = None
    context: Context | None = None
    run_id: str | None = None
    parent: str | None = None


HISTORY = 50
"""How many issues, interventions and actions are kept in memory; the journal has all of them."""


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
