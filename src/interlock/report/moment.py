"""Moment: one line of a run's timeline, made from one record, whatever wrote it."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ..core import Record
from ..core.typed import from_json
from .gui_words import GUI_TOLD
from .words import TOLD, Level, MomentKind, Told

KINDS: tuple[MomentKind, ...] = (
    "step", "review", "issue", "intervention", "checkpoint", "control", "state", "limit", "incident", "approval",
    "picture", "note",
)  # fmt: skip

LEVELS: tuple[Level, ...] = ("quiet", "info", "notice", "warning", "critical")
"""From what nobody needs to see to what somebody must."""

HIDDEN = frozenset(("snapshot", "status"))
"""Records that are for the machine alone. A `status` is what the supervisor found at its next step; people were told by
the `state` before it."""

RECORDS: dict[str, frozenset[str]] = {
    "step": frozenset(("step", "gui_chunk")),
    "review": frozenset(("step",)),
    "issue": frozenset(("issue",)),
    "intervention": frozenset(("intervention", "effect", "applied")),
    "checkpoint": frozenset(("checkpoint", "restored")),
    "control": frozenset(("request", "ack", "result", "audit")),
    "state": frozenset(("state", "end", "started", "spec", "hold")),
    "limit": frozenset(("limit",)),
    "incident": frozenset(("incident", "plan")),
    "approval": frozenset(("state",)),
    "picture": frozenset(("gui_event",)),
}
"""Which records a kind of moment may come from; everything else is a note."""

NAMED = frozenset().union(*RECORDS.values()) | HIDDEN


EVERY = {**TOLD, **GUI_TOLD}
"""The words for every kind of record that we know."""


CONTROL = (*range(0x09), 0x0B, 0x0C, *range(0x0D, 0x20), *range(0x7F, 0xA0))
TURNING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
HARMLESS = dict.fromkeys((*CONTROL, *TURNING), "\N{REPLACEMENT CHARACTER}")
"""What would steer a terminal, or turn the direction of a text so that it reads as another."""


class Moment(Struct, frozen=True):
    """What happened at one point of a run.

    `title` and `detail` steer no terminal, but are not safe as HTML; `data` is the record's own body, as it stands.
    """

    seq: int
    time: float
    kind: MomentKind
    step: int | None
    level: Level
    title: str
    detail: str
    data: dict[str, Any]


def read_moment(record: Record) -> Moment | None:
    """The line that a record makes; None for what is not shown. A record that nobody knows is still a line."""
    if record.kind in HIDDEN:
        return None
    body = _body(record)
    if record.kind == "state" and _says_nothing(body):
        return None
    tell = EVERY.get(record.kind)
    told = None
    if tell is not None:
        try:
            told = tell(body)
        except (KeyError, TypeError, AttributeError, ValueError, IndexError):
            # Another version wrote it, or another program.
            told = None
    if told is None:
        told = Told("note", "quiet", record.kind.replace("_", " "), _first_words(body))
    title, detail = told.title.translate(HARMLESS), told.detail.translate(HARMLESS)
    return Moment(record.seq, record.time, told.kind, told.step, told.level, title, detail, body)


def _says_nothing(body: dict[str, Any]) -> bool:
    """A sign of life: the run goes on, as it did before. Whoever resumed it is told of by the RESULT."""
    return body.get("status") == "running" and not body.get("waiting") and body.get("event", "STATE") == "STATE"


def _body(record: Record) -> dict[str, Any]:
    try:
        body = from_json(record.body)
    except msgspec.DecodeError:
        return {"unreadable": bytes(record.body)[:200].decode(errors="replace")}
    return body if isinstance(body, dict) else {"value": body}


def _first_words(body: dict[str, Any]) -> str:
    shown = [f"{key}: {value}" for key, value in body.items() if isinstance(value, str | int | float)]
    return ", ".join(shown)[:200]
