"""ControlCommand: one request to a run with its ACK and its RESULT, as far as the journal has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from ..control import Ack, Request, Result, result_words
from ..core import Record
from ..journal_records import read_body

KINDS = frozenset(("request", "ack", "result"))

Outcome = Literal["pending", "success", "failure", "unknown"]


class Acked(Struct, frozen=True):
    """The run has the command."""

    code: str
    time: float
    message: str = ""


class ControlResult(Struct, frozen=True):
    """How it went; `code` says why it failed."""

    code: str | None
    status: str
    time: float
    message: str = ""


class ControlCommand(Struct, kw_only=True):
    """A command and what became of it. Without a RESULT it is not known whether it was carried out."""

    request_id: str
    command: str
    actor: str = ""
    reason: str = ""
    requested_at: float = 0.0
    seq: int = 0
    ack: Acked | None = None
    result: ControlResult | None = None

    def outcome(self, *, owned: bool) -> Outcome:
        """What can truthfully be said: without an owner, a command that has no RESULT may or may not have happened."""
        if self.result is not None:
            return "success" if self.result.status == "success" else "failure"
        return "pending" if owned else "unknown"


def take_controls(known: dict[str, ControlCommand], records: Iterable[Record], keep: int) -> None:
    """Put what records say into the table of controls; the oldest go when there are too many."""
    for record in records:
        message = read_body(record)
        if not isinstance(message, Request | Ack | Result):
            continue
        # A request that could not be read has an answer anyway.
        request_id = message.request_id or f"#{record.seq}"
        control = known.get(request_id)
        if control is None:
            control = known[request_id] = ControlCommand(
                request_id=request_id,
                command=message.command or "",
                requested_at=record.time,
                seq=record.seq,
            )
        if isinstance(message, Request):
            control.actor, control.reason = message.actor or "", message.reason or ""
        elif isinstance(message, Ack):
            control.ack = Acked("ACK", record.time)
        else:
            payload = message.payload
            words = result_words(payload.status, payload.message, payload.run_status)
            control.result = ControlResult(payload.code or None, payload.status, record.time, words)
        while len(known) > keep:
            del known[next(iter(known))]
