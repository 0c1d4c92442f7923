"""Events: what happens to a run. Effects: what the state machine wants done, in order."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ..core import Status
from .messages import AbortReason, Code, Command, DoneReason, Waiting


class Received(Struct, frozen=True):
    """A copy of a message arrived. `age` is the time since it was stored; `via` is where answers go."""

    data: bytes
    via: object = None
    age: float = 0.0
    actor: str | None = None


class ClientRefused(Struct, frozen=True):
    """The transport refused a client before it read a message."""

    why: str
    actor: str | None = None
    via: object = None


class TransportNoted(Struct, frozen=True):
    """The transport quarantined a message or failed: `what` is the kind of the audit row."""

    what: str
    problem: str
    bytes: int | None = None
    actor: str | None = None


class OwnerStarted(Struct, frozen=True):
    """The owner has started; `revision` is the newest one that the actuator has."""

    revision: int = 0


class IterationStarted(Struct, frozen=True):
    """A passage through the gate began. Ask `may_start` first: others are not counted."""

    key: str
    iter: int | None = None


class IterationEnded(Struct, frozen=True):
    """A passage through the gate ended."""

    key: str


class WaitingForPerson(Struct, frozen=True):
    """A step waits for a person."""

    waiting: Waiting


class PersonAnswered(Struct, frozen=True):
    """A step waits no longer, whatever the reason."""

    step: int


class ModelSeen(Struct, frozen=True):
    """The agent was seen to use this model, which nobody requested."""

    model: str


class Held(Struct, frozen=True):
    """The supervisor pauses the run for a person; a person's pause is a command instead. Resume lifts it."""

    waiting: Waiting


class Released(Struct, frozen=True):
    """The supervisor ends its own pause; a person's pause stays."""


class Actuated(Struct, frozen=True):
    """The actuator's answer to one revision."""

    revision: int
    ok: bool = True
    detail: str = ""


class Executed(Struct, frozen=True):
    """The result of a command that took time; `code` if it failed (None counts as `failed`)."""

    request_id: str
    ok: bool
    message: str = ""
    code: Code | None = None
    details: dict[str, object] | None = None


class RunEnded(Struct, frozen=True):
    """The run ended by itself or by the supervisor; a person's cancel is a command instead."""

    reason: AbortReason | DoneReason


class Tick(Struct, frozen=True):
    """Time has passed."""


Event = (
    Received | ClientRefused | TransportNoted | OwnerStarted | IterationStarted | IterationEnded | ModelSeen
    | WaitingForPerson | PersonAnswered | Held | Released | Actuated | Executed | RunEnded | Tick
)  # fmt: skip


EntryKind = Literal["request", "ack", "result", "state", "audit"]

OUTGOING: frozenset[EntryKind] = frozenset(("ack", "result", "state"))
"""What is sent to the topics once committed; `state` has STATE, ABORT and DONE."""

CONTROL_KINDS: frozenset[str] = frozenset(("request", "ack", "result", "state"))
"""The records that recovery reads."""


class LogEntry(Struct, frozen=True):
    """One record of the log: the JSON of a message (or of an audit row), byte for byte."""

    kind: EntryKind
    body: bytes
    request_id: str | None = None


class Audit(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A message that was not carried out, and why. `age` is in seconds, `bytes` the size of an unreadable one."""

    what: str
    time: str
    request_id: str | None = None
    command: str | None = None
    age: float | None = None
    why: str | None = None
    problem: str | None = None
    bytes: int | None = None
    actor: str | None = None


class Persist(Struct, frozen=True):
    """One transaction: all entries or none, in this order, with consecutive sequence numbers.

    Once it is committed, the outgoing entries are sent in order: to the requester, and to all followers.
    If it cannot be committed, nothing after it may be carried out.
    """

    entries: tuple[LogEntry, ...]
    durable: bool = True


class Send(Struct, frozen=True):
    """Answer one copy of a message without storing it. `direct` answers go to connections only, not to topics."""

    body: bytes
    via: object
    request_id: str | None = None
    direct: bool = False


class Desired(Struct, frozen=True):
    """The state that the run should have at a revision. An actuator ignores revisions older than its own."""

    revision: int
    status: Status
    shut: bool
    model: str | None = None


class Actuate(Struct, frozen=True):
    """Have the actuator reach a state; its answer is Actuated."""

    desired: Desired


class Execute(Struct, frozen=True):
    """Carry out a command that takes time; the answer is Executed.

    After a crash it may be requested again: the executor recognises the request_id.
    """

    request_id: str
    command: Command
    payload: dict[str, object]


Effect = Persist | Send | Actuate | Execute
