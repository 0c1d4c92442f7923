"""Moment: one line of a run's timeline, made from one record, whatever wrote it."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
from msgspec import Struct

from ..control.messages import State
from ..core import Record
from ..core.typed import from_json
from ..records import RecordBody, decode_body
from .words import Level, MomentKind, Told, plain, tell

KINDS: tuple[MomentKind, ...] = get_args(MomentKind)

LEVELS: tuple[Level, ...] = get_args(Level)
"""From housekeeping to what somebody must see."""

MOMENTS: dict[str, tuple[MomentKind, ...]] = {
    "spec": ("state",),
    "started": ("state",),
    "step": ("step", "review"),
    "issue": ("issue",),
    "intervention": ("intervention",),
    "applied": ("intervention",),
    "effect": ("intervention",),
    "opinion": ("note",),
    "plan": ("incident",),
    "history": ("checkpoint",),
    "checkpoint": ("checkpoint",),
    "restored": ("checkpoint",),
    "snapshot": ("note",),
    "status": ("state",),
    "hold": ("state",),
    "limit": ("limit",),
    "incident": ("incident",),
    "fault": ("note",),
    "tamper": ("note",),
    "transcript": ("note",),
    "proxied": ("note",),
    "lost": ("note",),
    "request": ("control",),
    "ack": ("control",),
    "result": ("control",),
    "state": ("state", "approval"),
    "audit": ("control",),
    "end": ("state",),
    "gui_session": ("note",),
    "gui_chunk": ("step",),
    "gui_trouble": ("note",),
    "gui_event": ("picture", "note"),
    "gui_model_call": ("note",),
    "gui_verification": ("note",),
    "gui_result": ("note",),
}
"""The kinds of moment that each kind of record makes; one that we do not know is a note."""

HIDDEN = frozenset(("snapshot", "status"))
"""Records for a successor of the supervisor only. Timelines leave them out: the `state` before a `status` says it."""

CONTROL = (*range(0x09), 0x0B, 0x0C, *range(0x0D, 0x20), *range(0x7F, 0xA0))
TURNING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
HARMLESS = dict.fromkeys((*CONTROL, *TURNING), "\N{REPLACEMENT CHARACTER}")
"""What would steer a terminal, or turn the direction of a text so that it reads as another."""


class Moment(Struct, frozen=True):
    """What happened at one point of a run.

    `title` and `detail` steer no terminal, but are not safe as HTML; `data` is the JSON of the record's body, as it
    is in the journal.
    """

    seq: int
    time: float
    kind: MomentKind
    step: int | None
    level: Level
    title: str
    detail: str
    record: str
    data: msgspec.Raw

    @property
    def body(self) -> RecordBody | None:
        """The record's body; None where another version or another program wrote it."""
        return decode_body(self.record, self.data)

    @property
    def fields(self) -> dict[str, Any]:
        """The record's body as plain JSON values."""
        return from_json(self.data)  # type: ignore[no-any-return]


def read_moment(record: Record, *, hidden: bool = False) -> Moment | None:
    """The line that a record makes; None for what is not shown. A record of an unknown kind is still a line."""
    if record.kind in HIDDEN and not hidden:
        return None
    body, data = decode_body(record.kind, record.body), record.body
    if body is None:
        fields = _fields(record)
        data = msgspec.Raw(msgspec.json.encode(fields))
        kind = MOMENTS.get(record.kind, ("note",))[0]
        told = Told(kind, "quiet", plain(record.kind), _first_words(fields))
    elif isinstance(body, State) and body.status == "running" and body.waiting is None and not hidden:
        # A sign of life. Who resumed the run is in the RESULT.
        return None
    else:
        told = tell(body)
    title, detail = told.title.translate(HARMLESS), told.detail.translate(HARMLESS)
    return Moment(record.seq, record.time, told.kind, told.step, told.level, title, detail, record.kind, data)


def _fields(record: Record) -> dict[str, Any]:
    try:
        body = from_json(record.body)
    except msgspec.DecodeError:
        return {"unreadable": bytes(record.body)[:200].decode(errors="replace")}
    return body if isinstance(body, dict) else {"value": body}


def _first_words(fields: dict[str, Any]) -> str:
    shown = [f"{key}: {value}" for key, value in fields.items() if isinstance(value, str | int | float)]
    return ", ".join(shown)[:200]
