"""The messages of both topics, as they are on the wire."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Callable
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

Command = Literal["pause", "resume", "cancel", "escalate", "approve", "reject", "rollback"]
Code = Literal["bad_request", "not_found", "invalid_state", "failed", "duplicate"]
LiveStatus = Literal["running", "pausing", "paused"]
AbortReason = Literal["USER_CANCELLED", "EMERGENCY_STOP", "CRITICAL_FAILURE", "ERROR"]
DoneReason = Literal["COMPLETE", "MAX_ITERATIONS", "STUCK", "NO_MORE_ISSUES", "MAX_ISSUES", "UNPROVEN"]

COMMANDS: tuple[Command, ...] = get_args(Command)
ABORT_REASONS: tuple[AbortReason, ...] = get_args(AbortReason)
DONE_REASONS: tuple[DoneReason, ...] = get_args(DoneReason)

RequestId = Annotated[str, Meta(min_length=1, max_length=128, description="A UUID v4; any such string is accepted.")]
Timestamp = Annotated[
    str,
    Meta(
        pattern=r"^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$",
        description="RFC 3339; ours are UTC with Z. Informational only.",
    ),
]
Name = Annotated[str, Meta(min_length=1, max_length=512)]
Note = Annotated[str, Meta(max_length=65_536)]


class Target(Struct, frozen=True, omit_defaults=True):
    """Which run (its id, or the id of one of its frames), and optionally the issue that it must be working on."""

    run_id: Name
    issue_id: Name | None = None


class Nothing(Struct, frozen=True):
    """The payload of resume and cancel, and of every ACK."""


class PausePayload(Struct, frozen=True, omit_defaults=True):
    """The payload of pause: `now` does not wait for the step that is under way."""

    now: bool = False


class EscalatePayload(Struct, frozen=True, omit_defaults=True):
    """The stronger model, and why. `force` accepts it even if it is unknown whether it is stronger."""

    model: Name
    reason: Note | None = None
    force: bool = False


class AnswerPayload(Struct, frozen=True, omit_defaults=True):
    """The step that needs approval, and the digest of the call that the person saw."""

    step: Annotated[int, Meta(ge=0)]
    reason: Note | None = None
    digest: Name | None = None


class RollbackPayload(Struct, frozen=True, omit_defaults=True):
    """The checkpoint to go back to; with `paths` only these files."""

    to: Name
    paths: tuple[str, ...] | None = None


PAYLOADS: dict[Command, type[Nothing | PausePayload | EscalatePayload | AnswerPayload | RollbackPayload]] = {
    "pause": PausePayload,
    "resume": Nothing,
    "cancel": Nothing,
    "escalate": EscalatePayload,
    "approve": AnswerPayload,
    "reject": AnswerPayload,
    "rollback": RollbackPayload,
}


class Request(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="type", tag="REQUEST"):
    """A command to a run. `actor` is the sender as the transport knows it, else as the sender names itself."""

    schema: Literal[0]
    request_id: RequestId
    command: Command
    target: Target
    timestamp: Timestamp
    payload: dict[str, object]
    actor: Note | None = None
    reason: Note | None = None
    attempt: Annotated[int, Meta(ge=1)] | None = None
    batch_id: Name | None = None


class Ack(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="type", tag="ACK"):
    """The run has stored the command and will carry it out."""

    schema: Literal[0]
    request_id: RequestId
    command: str
    target: Target
    timestamp: Timestamp
    payload: dict[str, object]
    batch_id: str | None = None


class ResultPayload(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The outcome: `code` only if it is a failure; `message` is for people."""

    status: Literal["success", "failure"]
    message: str = ""
    code: Code | UnsetType = UNSET
    previous_model: str | UnsetType | None = UNSET
    new_model: str | UnsetType = UNSET
    run_status: str | UnsetType = UNSET
    details: dict[str, object] | UnsetType = UNSET

    @property
    def says(self) -> str:
        """The message for a person."""
        return result_words(self.status, self.message, self.run_status)


def result_words(status: str, message: str, run_status: object) -> str:
    """A RESULT's message for people; a pause that has not taken effect yet is reported as pausing."""
    if status == "success" and run_status == "pausing":
        return f"pausing at {message.partition(' at ')[2]}: the current step may finish"
    return message


class Result(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="type", tag="RESULT"):
    """The answer to a command; fields of a bad request that could not be read are null."""

    schema: Literal[0]
    request_id: RequestId | None
    command: str | None
    target: Target | None
    timestamp: Timestamp
    payload: ResultPayload
    batch_id: str | None = None


ControlMessage = Request | Ack | Result


class StackFrame(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One level of the run's work; the last one is current."""

    id: str
    mode: str
    iter: Annotated[int, Meta(ge=1)]
    max: int | None
    model: str | None
    issue_id: str | None = None
    escalation_reason: str | None = None


class Waiting(Struct, frozen=True, omit_defaults=True):
    """What the run waits for. An approval is of the call with this `digest`, and expires at `until`.

    A parked run resumes by itself at `until`; 0: it waits for a person.
    """

    kind: str
    step: int
    text: str
    digest: str = ""
    until: float = 0.0


class State(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="event", tag="STATE"):
    """The run is live. `revision` is the last one that an actuator got; readers may ignore it."""

    schema: Literal[0, 1]
    run_id: str
    updated_at: str
    stack: tuple[StackFrame, ...]
    status: LiveStatus | UnsetType = UNSET
    seq: int | None = None
    request_id: str | None = None
    waiting: Waiting | None = None
    revision: int | None = None


class Ended(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What ABORT and DONE have in common. Older writers omit run_id and updated_at."""

    schema: Literal[0, 1]
    stack: tuple[StackFrame, ...]
    run_id: str | None = None
    updated_at: str | None = None
    seq: int | None = None
    request_id: str | None = None
    revision: int | None = None


class Abort(Ended, frozen=True, kw_only=True, tag_field="event", tag="ABORT"):
    """The run ended before its work was done."""

    reason: AbortReason


class Done(Ended, frozen=True, kw_only=True, tag_field="event", tag="DONE"):
    """The run ended."""

    reason: DoneReason


CurrentMessage = State | Abort | Done

encode: Callable[[ControlMessage | CurrentMessage], bytes] = msgspec.json.Encoder().encode
"""The message as one line of JSON, without the newline."""

_FIRST_DAY = datetime.date(1970, 1, 1)


def stamp_seq(body: bytes, seq: int) -> bytes:
    """A message of loop:current as it is sent: with its sequence number in the journal."""
    return b'%s,"seq":%d}' % (body[:-1], seq)


def format_time(seconds: float) -> str:
    """Seconds since the epoch as a timestamp."""
    whole, milliseconds = divmod(int(seconds * 1000), 1000)
    days, rest = divmod(whole, 86_400)
    minutes, second = divmod(rest, 60)
    return f"{_format_day(days)}T{minutes // 60:02}:{minutes % 60:02}:{second:02}.{milliseconds:03}Z"


@functools.lru_cache(maxsize=4)
def _format_day(days: int) -> str:
    return (_FIRST_DAY + datetime.timedelta(days)).isoformat()
