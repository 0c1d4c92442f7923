"""The head of a run's page, in parts, so that only changed parts are sent."""

from __future__ import annotations

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..core import CheckpointInfo
from ..link import SentRequest
from ..report import Story, merge_controls, why_not_switched

NEWEST = 60
"""Issues, interventions and checkpoints in the head; the timeline has all."""

CONTROLS = 30
FIRST_KINDS = frozenset(("checkpoint",))

Parts = dict[str, bytes]
"""The JSON of each part by its name."""


class IncidentLine(Struct, frozen=True):
    """An incident in one line."""

    id: str
    time: float
    status: str
    summary: str


def make_head(story: Story, sent: list[SentRequest]) -> Parts:
    """The parts of a run's head as they are now."""
    summary, waiting = story.summary, story.waiting
    parts: dict[str, object] = {
        "summary": summary,
        "status": {
            "shown": summary.shown,
            "outcome": summary.outcome,
            "waiting": waiting,
            "problem": story.problem,
            "ending": story.ending,
            "cannot_switch": why_not_switched(summary.adapter),
        },
        "spec": story.spec,
        "controls": merge_controls(story.controls, sent, owned=summary.owner_pid is not None)[-CONTROLS:],
        "proof": story.proof,
        "episodes": story.episodes[-NEWEST:],
        "issues": [replace(each, details={}, evidence=each.evidence[:50]) for each in story.issues[-NEWEST:]],
        "interventions": [replace(made, details={}) for made in story.interventions[-NEWEST:]],
        "checkpoints": [_small(info) for info in story.checkpoints[-NEWEST:]],
        "start": _first_checkpoint(story),
        "incidents": [IncidentLine(s.id, s.incident.time, s.status, s.report.summary) for s in story.incidents],
        "counts": story.counts,
    }
    return {name: msgspec.json.encode(part) for name, part in parts.items()}


def _first_checkpoint(story: Story) -> dict[str, object] | None:
    """The run's first checkpoint; a long run has more than are in memory."""
    known = story.checkpoints
    if len(known) == story.counts.get("checkpoint", 0):
        return _small(known[0]) if known else None
    found = story.page(after=0, kinds=FIRST_KINDS, limit=1)
    first = found[0].body if found else None
    return _small(first) if isinstance(first, CheckpointInfo) else None


def _small(info: CheckpointInfo) -> dict[str, object]:
    shown = {name: getattr(info, name) for name in ("id", "time", "step", "label", "cause", "files", "bytes")}
    return {**shown, "not_covered": len(info.not_covered)}
