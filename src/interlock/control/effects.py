"""Effects: what the state machine asks of the outside. They are carried out in order, one after the other."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ..core import Status
from .messages import Command

EntryKind = Literal["request", "ack", "result", "state", "audit"]

OUTGOING: frozenset[EntryKind] = frozenset(("ack", "result", "state"))
"""What goes to the topics once it is committed; `state` holds STATE, ABORT and DONE."""

CONTROL_KINDS: frozenset[str] = frozenset(("request", "ack", "result", "state"))
"""What recovery reads."""


class LogEntry(Struct, frozen=True):
    """One record of the log: the JSON of a message (or of an audit row), byte for byte."""

    kind: EntryKind
    body: bytes
    request_id: str | None = None


class Audit(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What was not carried out, and why. `age` is in seconds, `bytes` the size of what could not be read."""

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
    """Answer one copy of a message; nothing is stored. `direct` answers exist on a connection only, not on a topic."""

    body: bytes
    via: object
    request_id: str | None = None
    direct: bool = False


class Desired(Struct, frozen=True):
    """What the run shall be, at a revision. An actuator ignores revisions older than what it has."""

    revision: int
    status: Status
    shut: bool
    model: str | None = None


class Actuate(Struct, frozen=True):
    """Tell the actuator "be like this"; its answer comes back as Actuated."""

    desired: Desired


class Execute(Struct, frozen=True):
    """Carry out a command that takes its time; the answer comes back as Executed.

    After a crash it may be asked for a second time: the executor recognises the request_id.
    """

    request_id: str
    command: Command
    payload: dict[str, object]


Effect = Persist | Send | Actuate | Execute
