"""CheckpointInfo: what the rest of the house knows of a checkpoint."""

from __future__ import annotations

from msgspec import Struct

from .context import Context
from .limits import Limits


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
