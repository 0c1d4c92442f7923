"""Which checkpoint is safe to go back to."""

from __future__ import annotations

from collections.abc import Sequence

from ..config import CheckpointRollback
from ..core import CheckpointInfo, Issue


def newest_safe(
    checkpoints: Sequence[CheckpointInfo],
    issue: Issue,
    config: CheckpointRollback,
    now: float,
    *,
    any_age: bool = False,
    since: float | None = None,
) -> CheckpointInfo | None:
    """The newest safe checkpoint from before the issue started.

    `any_age` lifts the age limit of automatic rollback; `since` is when its episode began, which it may always be as
    old as.
    """
    start = started_step(issue)
    fitting = (
        known
        for known in checkpoints
        if known.step <= start
        and is_healthy(known, config)
        and (any_age or is_young(known, config, now) or (since is not None and known.time >= since - EPISODE_LEAD_S))
    )
    return max(fitting, key=lambda known: (known.time, known.step), default=None)


EPISODE_LEAD_S = 1800.0
"""An episode begins before its first alarm: a checkpoint this long before that belongs to it."""


def started_step(issue: Issue) -> int:
    """The step where the trouble began."""
    if issue.started_step is not None:
        return issue.started_step
    return min(issue.evidence, default=issue.step)


def is_healthy(checkpoint: CheckpointInfo, config: CheckpointRollback) -> bool:
    """Whether the run went well when it was made: enough success, and no error in the time just before."""
    criteria = config.safe_checkpoint_criteria
    if checkpoint.success_rate < criteria.min_success_rate:
        return False
    if checkpoint.last_error_time is None:
        return True
    return checkpoint.time - checkpoint.last_error_time >= criteria.no_errors_duration_seconds


def is_young(checkpoint: CheckpointInfo, config: CheckpointRollback, now: float) -> bool:
    return now - checkpoint.time < config.checkpoint_retention_minutes * 60
