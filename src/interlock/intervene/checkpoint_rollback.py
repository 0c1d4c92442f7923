"""Checkpoint rollback: restores files, conversation and context to the newest safe checkpoint before the issue."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..config import CheckpointRollback
from ..core import CheckpointInfo, Growth, Hold, Inject, Issue, Limits, Restore, RollbackEntry, RunState, SetLimits
from .advice import advice_for
from .incident import make_plan
from .message import FIRST, Attempt, guidance, one_line
from .options import newest_safe
from .outcome import Continue, RecoveryNeeded

NAME = "checkpoint_rollback"
NOTHING = "nothing to go back to"
NAMED = 5


class ChangedFiles(Struct, frozen=True):
    """What a run changed since a checkpoint: files that version control tracks or sources that it wrote, which can go
    back, and what its calls produced, which is kept."""

    files: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


ChangedSince = Callable[[str], ChangedFiles]
"""What a run changed since a checkpoint, by its id."""


def checkpoint_rollback(
    issue: Issue,
    state: RunState,
    config: CheckpointRollback,
    now: float,
    attempt: Attempt = FIRST,
    *,
    window_s: float = 60.0,
    changed: ChangedSince | None = None,
) -> Continue | RecoveryNeeded:
    """Roll back to a safe checkpoint, or say why none is available and wait for a person."""
    if state.rollbacks >= config.max_rollback_depth:
        return _recovery(issue, state, now, f"{state.rollbacks} automatic rollbacks were made; no more are allowed")
    safe = newest_safe(state.checkpoints, issue, config, now, since=attempt.since)
    if safe is None:
        return _recovery(issue, state, now, "no safe checkpoint from before the issue exists")
    found = changed(safe.id) if changed is not None else ChangedFiles()
    if changed is not None and not found.files:
        return RecoveryNeeded(state=state, plan=make_plan(issue, state, now, NOTHING), log=NOTHING, directives=())
    back = state_at(state, safe)
    text = "\n".join(filter(None, (guidance_text(issue, safe), _kept(found.kept), attempt.news())))
    message = guidance(text, NAME, issue, back, now, limits=back.limits, checkpoint_id=safe.id)
    reason = one_line(issue.description or issue.type)
    return Continue(
        state=back,
        log=f"rolled back to checkpoint {safe.id} from before step {safe.step}",
        directives=(
            Restore(safe.id, found.files, reason),
            SetLimits(back.limits, reason="the smaller of then and now", windowed=back.windowed, window_s=window_s),
            Inject(message),
        ),
        history=(RollbackEntry(from_state=mark_of(state), to_checkpoint=safe.id, time=now),),
    )


def state_at(state: RunState, checkpoint: CheckpointInfo) -> RunState:
    """The run after the rollback. Issues, interventions and spend stay; each limit is the smaller of then and now.

    Checkpoints after this one are no longer candidates; the store keeps them, so that the rollback can be undone.
    """
    return replace(
        state,
        context=checkpoint.context or state.context,
        limits=state.limits.smaller(checkpoint.limits or Limits()),
        growth=Growth(),
        checkpoints=tuple(known for known in state.checkpoints if known.time <= checkpoint.time),
        rollbacks=state.rollbacks + 1,
        # Reminders given after the checkpoint are no longer in the conversation.
        reinforced=(),
    )


def mark_of(state: RunState) -> dict[str, object]:
    """The state before a rollback, small enough for the history."""
    limits: object = msgspec.to_builtins(state.limits)
    return {"step": state.step, "rollbacks": state.rollbacks, "tokens": state.spend.tokens, "limits": limits}


def guidance_text(issue: Issue, checkpoint: CheckpointInfo) -> str:
    """The message for the agent after a rollback."""
    name = f"{checkpoint.id} ({checkpoint.label})" if checkpoint.label else checkpoint.id
    return "\n".join(
        (
            f"Interlock restored the files to checkpoint {name}, made before step {checkpoint.step}.",
            f"What went wrong: {one_line(issue.description or issue.type)}",
            f"What to try: {advice_for(issue).attempt}",
            "Look at the files again before you change them.",
        )
    )


def _kept(kept: tuple[str, ...]) -> str:
    """What was not rolled back, in one line."""
    if not kept:
        return ""
    more = f" and {len(kept) - NAMED} more" if len(kept) > NAMED else ""
    return f"Kept as it is, because calls produced it: {', '.join(kept[:NAMED])}{more}."


def _recovery(issue: Issue, state: RunState, now: float, why: str) -> RecoveryNeeded:
    plan = make_plan(issue, state, now, why)
    hold = Hold(f"{why}: {one_line(issue.description or issue.type)}", kind="recovery")
    return RecoveryNeeded(state=state, plan=plan, log=f"recovery needed: {why}", directives=(hold,))
