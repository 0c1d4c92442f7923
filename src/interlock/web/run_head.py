"""The head of a run's page, in parts, so that only changed parts are sent."""

from __future__ import annotations

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..core import CheckpointInfo
from ..link import SentRequest
from ..report import ControlCommand, Story, why_not_switched

NEWEST = 60
"""Issues, interventions and checkpoints in the head; the timeline has all."""

CONTROLS = 30
FIRST_KINDS = frozenset(("checkpoint",))

Parts = dict[str, bytes]
"""The JSON of each part by its name."""


class ShownRequest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request as the page shows it: from the journal, and from what this dashboard knows."""

    request_id: str
    command: str
    outcome: str
    requested: float
    actor: str = ""
    reason: str = ""
    acked: float | None = None
    answered: float | None = None
    code: str | None = None
    message: str = ""
    notice: str = ""
    attempts: int = 1
    in_journal: bool = True


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
        "controls": merge_controls(story.controls, sent, owned=summary.owner_pid is not None),
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


def merge_controls(known: list[ControlCommand], sent: list[SentRequest], *, owned: bool) -> list[ShownRequest]:
    """The newest requests: as in the journal, else as sent from here."""
    ours = {each.request_id: each for each in sent}
    shown = [_from_journal(control, ours.pop(control.request_id, None), owned) for control in known]
    shown += [_from_sending(each) for each in ours.values()]
    return sorted(shown, key=lambda each: each.requested)[-CONTROLS:]


def _from_journal(control: ControlCommand, ours: SentRequest | None, owned: bool) -> ShownRequest:
    outcome = str(control.outcome(owned=owned))
    result = control.result
    if outcome == "pending" and ours is not None and ours.state == "unknown":
        outcome = "unknown"
    message = result.message if result is not None else ours.message if ours is not None else ""
    return ShownRequest(
        request_id=control.request_id,
        command=control.command,
        outcome=outcome,
        requested=ours.time if ours is not None else control.requested_at,
        actor=control.actor,
        reason=control.reason,
        acked=control.ack.time if control.ack is not None else None,
        answered=result.time if result is not None else None,
        code=result.code if result is not None else None,
        message=message,
        notice=ours.notice if ours is not None and result is None else "",
        attempts=ours.attempts if ours is not None else 1,
    )


def _from_sending(sent: SentRequest) -> ShownRequest:
    return ShownRequest(
        request_id=sent.request_id,
        command=sent.command,
        outcome="pending" if sent.state == "sent" else sent.state,
        requested=sent.time,
        actor="dashboard",
        reason=sent.reason or "",
        answered=sent.answered if sent.state in ("success", "failure") else None,
        code=sent.code,
        message=sent.message,
        notice=sent.notice if sent.state == "sent" else "",
        attempts=sent.attempts,
        in_journal=False,
    )


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
