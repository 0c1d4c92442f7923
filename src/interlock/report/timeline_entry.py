"""TimelineMoment: one line of a run's timeline, made from one record."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
from msgspec import Struct

from ..control import State
from ..core import Record, from_json, printable
from ..journal_records import RecordBody, decode_body
from .words import Level, MomentKind, RecordText, describe_record, plain

KINDS: tuple[MomentKind, ...] = get_args(MomentKind)

LEVELS: tuple[Level, ...] = get_args(Level)
"""From internal to critical."""

RECORDS: dict[MomentKind, tuple[str, ...]] = {
    "step": ("step", "gui_chunk"),
    "review": ("step",),
    "issue": ("issue", "episode"),
    "intervention": ("intervention", "applied", "effect", "unwedge"),
    "checkpoint": ("checkpoint", "restored", "history", "breach"),
    "control": ("request", "ack", "result", "audit"),
    "state": ("spec", "contract", "started", "status", "hold", "state", "end", "parked", "woken", "liveness"),
    "limit": ("limit",),
    "incident": ("incident", "plan"),
    "approval": ("state",),
    "picture": ("gui_event",),
    "note": (
        "opinion", "person", "proof", "stop_gate", "fault", "tamper", "fence", "transcript", "proxied", "lost",
        "issue", "snapshot", "gui_session", "gui_trouble", "gui_event", "gui_model_call", "gui_verification",
        "gui_result",
    ),
}  # fmt: skip
"""The kinds of record for each kind of moment; an unknown kind makes a note."""

HIDDEN = frozenset(("snapshot", "status"))
"""Records for a successor of the supervisor only, not shown in timelines: `state` says what `status` does."""


class TimelineMoment(Struct, frozen=True):
    """What happened at one point of a run.

    `title` and `detail` have no control characters, but are not escaped for HTML; `data` is the JSON of the record's
    body, as in the journal.
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
        """The record's body; None if another version or another program wrote it."""
        return decode_body(self.record, self.data)

    @property
    def fields(self) -> dict[str, Any]:
        """The record's body as plain JSON values."""
        return from_json(self.data)  # type: ignore[no-any-return]


def read_moment(record: Record, *, hidden: bool = False) -> TimelineMoment | None:
    """The line for a record; None if it is not shown. A record of an unknown kind has a line too."""
    if record.kind in HIDDEN and not hidden:
        return None
    body, data = decode_body(record.kind, record.body), record.body
    if body is None:
        fields = _fields(record)
        data = msgspec.Raw(msgspec.json.encode(fields))
        kind: MomentKind = next((kind for kind, made_of in RECORDS.items() if record.kind in made_of), "note")
        text = RecordText(kind, "quiet", plain(record.kind), _first_fields(fields))
    elif isinstance(body, State) and not hidden and _is_redundant(body):
        return None
    else:
        text = describe_record(body)
    title, detail = printable(text.title), printable(text.detail)
    return TimelineMoment(record.seq, record.time, text.kind, text.step, text.level, title, detail, record.kind, data)


def _is_redundant(state: State) -> bool:
    """Whether another record says it: a RESULT that the run is running, or the record of a park with a time."""
    waiting = state.waiting
    return state.status == "running" if waiting is None else waiting.kind == "parked" and waiting.until > 0


def _fields(record: Record) -> dict[str, Any]:
    try:
        body = from_json(record.body)
    except msgspec.DecodeError:
        return {"unreadable": bytes(record.body)[:200].decode(errors="replace")}
    return body if isinstance(body, dict) else {"value": body}


def _first_fields(fields: dict[str, Any]) -> str:
    shown = [f"{key}: {value}" for key, value in fields.items() if isinstance(value, str | int | float)]
    return ", ".join(shown)[:200]
