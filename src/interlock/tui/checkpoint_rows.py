"""Checkpoints: a row each; and what going back to one would do, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from ..core import CheckpointInfo
from .line import Line, clean, fit, flat
from .words import clock_time, plural, size

if TYPE_CHECKING:
    from ..checkpoint import RestorePlan

SHOWN = 14
"""Paths that are named before the rest is counted."""

_SIGNS = {
    "created": ("+", "$success"),
    "deleted": ("-", "$error"),
    "content": ("~", "$warning"),
}


def checkpoint_heading(width: int) -> Line:
    return (
        (fit("TIME", 10), ""),
        (fit("CHECKPOINT", 16), ""),
        (fit("STEP", 6, right=True), ""),
        (fit("FILES", 8, right=True), ""),
        (fit("SIZE", 9, right=True), ""),
        ("  WHY", ""),
    )


def draw_checkpoint(info: CheckpointInfo, width: int) -> Line:
    why = ": ".join(filter(None, (info.cause, info.label)))
    left_out = f"  ({len(info.not_covered)} not covered)" if info.not_covered else ""
    return (
        (fit(clock_time(info.time), 10), "dim"),
        (fit(info.id, 16), "link"),
        (fit(str(info.step), 6, right=True), ""),
        (fit(f"{info.files:,}", 8, right=True), ""),
        (fit(size(info.bytes), 9, right=True), ""),
        (f"  {flat(why)}", "strong" if info.cause == "start" else ""),
        (left_out, "warn"),
    )


def plan_words(plan: RestorePlan, *, live: bool) -> Content:
    """What a rollback would do, for the person who has to confirm it."""
    parts: list[Content] = []
    if not plan.changes:
        parts.append(Content("Nothing that this run changed differs from the checkpoint."))
    else:
        parts.append(Content(f"{plural(len(plan.changes), 'path')} would be restored:"))
        for change in plan.changes[:SHOWN]:
            sign, style = _SIGNS.get(change.kind, ("~", "$warning"))
            parts.append(Content.styled(f"  {sign} {clean(change.path)}", style))
        if len(plan.changes) > SHOWN:
            parts.append(Content(f"  and {len(plan.changes) - SHOWN:,} more"))
    if plan.left_alone:
        parts.append(Content(f"{plural(len(plan.left_alone), 'path')} would be left alone:"))
        parts += [
            Content.styled(f"  {clean(left.path)}: {left.reason}", "$text-muted") for left in plan.left_alone[:SHOWN]
        ]
    if plan.locks:
        parts.append(Content.styled(f"A git command seems to be running: {clean(', '.join(plan.locks))}", "$error"))
    parts.append(Content(""))
    who = "The run does this itself: its agent is held in the meantime, then informed." if live else ""
    parts.append(Content(f"{who} The current state is saved first: interlock undo reverts this.".strip()))
    return Content("\n").join(parts)
