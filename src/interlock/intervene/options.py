"""The four options after an emergency stop, each with its effect, and which checkpoint is safe to go back to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..config import CheckpointRollback
from ..core import Capability, CheckpointInfo, Issue, Limits, RunSpec, RunState

OptionName = Literal["resume_with_limits", "rollback_and_retry", "manual_intervention", "abort"]

STRICTER = 0.5
"""The factor for every existing limit when the run resumes."""

WITHOUT_LIMITS = Limits(max_steps=100, max_calls_per_minute=20)
"""The limits of a resumed run that had none: enough to finish something small."""

DANGEROUS = ("delete", "network", "privilege", "unknown_program")
"""Kinds of action that a resumed run may not take."""

NEEDS_APPROVAL = ("write", "delete", "command")
"""Kinds of step that need approval under manual_intervention; reads do not."""


class RecoveryOption(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One option. If not `applicable`, `reason` says why."""

    name: OptionName
    description: str
    command: str
    applicable: bool = True
    reason: str = ""
    limits: Limits | None = None
    removed_actions: tuple[str, ...] = ()
    monitoring: Literal["normal", "strict"] = "normal"
    checkpoint_id: str | None = None
    needs_approval: tuple[str, ...] = ()
    clean_up: tuple[str, ...] = ()


def recovery_options(
    incident_id: str, issue: Issue, state: RunState, config: CheckpointRollback, now: float
) -> tuple[RecoveryOption, ...]:
    """All four options, in the order of how much continues automatically."""
    safe = newest_safe(state.checkpoints, issue, config, now, any_age=True)
    return (
        RecoveryOption(
            name="resume_with_limits",
            description="Continue with stricter limits, without dangerous tools, under strict monitoring.",
            command=_command(incident_id, "resume_with_limits"),
            limits=stricter(state),
            removed_actions=DANGEROUS,
            monitoring="strict",
        ),
        RecoveryOption(
            name="rollback_and_retry",
            description="Restore the files to a safe checkpoint and start again from there.",
            command=_command(incident_id, "rollback_and_retry"),
            applicable=safe is not None,
            reason="" if safe else "no safe checkpoint from before the issue exists",
            checkpoint_id=safe.id if safe else None,
        ),
        RecoveryOption(
            name="manual_intervention",
            description="Continue step by step: writes, deletes and commands need approval; reads do not.",
            command=_command(incident_id, "manual_intervention"),
            needs_approval=NEEDS_APPROVAL,
        ),
        RecoveryOption(
            name="abort",
            description="Leave it stopped and clean up.",
            command=_command(incident_id, "abort"),
            clean_up=(
                "end processes that the run left behind",
                "remove the run's temporary files, sockets and gate",
                "mark the run as aborted",
            ),
        ),
    )


def offered(
    options: tuple[RecoveryOption, ...], spec: RunSpec, capabilities: frozenset[Capability]
) -> tuple[RecoveryOption, ...]:
    """The options available for a run: a command is started again, a Python program continues itself."""
    if spec.argv:
        return options
    return tuple(_without_command(option, spec, capabilities) for option in options)


def _without_command(option: RecoveryOption, spec: RunSpec, capabilities: frozenset[Capability]) -> RecoveryOption:
    if option.name == "abort" or not option.applicable:
        return option
    if "relaunch" in capabilities:
        why = f"its client ({spec.adapter}) started it: start a new session there"
        return replace(option, applicable=False, reason=why)
    incident_id = option.command.split()[3]
    return replace(option, command=f"Supervisor.open(incident=({incident_id!r}, {option.name!r}), ...)")


def stricter(state: RunState) -> Limits:
    """The limits for resuming: half of each limit that was set, and small defaults for the others.

    A throttle sets the memory limit from the usage at that time, which says nothing about what a new process needs.
    """
    changes: dict[str, float | None] = {}
    for name in Limits.__struct_fields__:
        value = getattr(state.limits, name)
        if value is None or name in state.windowed or (name == "max_memory_mb" and state.throttled):
            changes[name] = getattr(WITHOUT_LIMITS, name)
        elif isinstance(value, int):
            changes[name] = min(value, max(1, math.floor(value * STRICTER)))
        else:
            changes[name] = value * STRICTER
    return Limits().replace(**changes)


def _command(incident_id: str, option: OptionName) -> str:
    return f"interlock incident continue {incident_id} --option {option}"


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

    `any_age` lifts the age limit of automatic rollback; `since` is when the episode began: checkpoints since then are
    never too old.
    """
    fitting = (
        known
        for known in checkpoints
        if known.step <= issue.began
        and is_healthy(known, config)
        and (any_age or is_young(known, config, now) or (since is not None and known.time >= since - EPISODE_LEAD_S))
    )
    return max(fitting, key=lambda known: (known.time, known.step), default=None)


EPISODE_LEAD_S = 1800.0
"""An episode begins before its first alarm: a checkpoint made up to this long before it belongs to the episode."""


def is_healthy(checkpoint: CheckpointInfo, config: CheckpointRollback) -> bool:
    """Whether the run was healthy when the checkpoint was made: enough success, and no recent error."""
    criteria = config.safe_checkpoint_criteria
    if checkpoint.success_rate < criteria.min_success_rate:
        return False
    if checkpoint.last_error_time is None:
        return True
    return checkpoint.time - checkpoint.last_error_time >= criteria.no_errors_duration_seconds


def is_young(checkpoint: CheckpointInfo, config: CheckpointRollback, now: float) -> bool:
    return now - checkpoint.time < config.checkpoint_retention_minutes * 60
