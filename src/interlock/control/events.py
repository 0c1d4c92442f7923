"""Events: what happens to a run, besides messages."""

from __future__ import annotations

from msgspec import Struct

from .messages import AbortReason, Code, DoneReason, Waiting


class Received(Struct, frozen=True):
    """A copy of a message came in. `age` counts from when the store took it; `via` names where an answer goes."""

    data: bytes
    via: object = None
    age: float = 0.0
    actor: str | None = None


class ClientRefused(Struct, frozen=True):
    """The transport turned someone away before a message was read."""

    why: str
    actor: str | None = None
    via: object = None


class TransportNoted(Struct, frozen=True):
    """The transport put something aside, or does not work: `what` is the audit row's kind."""

    what: str
    problem: str
    bytes: int | None = None
    actor: str | None = None


class OwnerStarted(Struct, frozen=True):
    """The owner has come up; `revision` is the newest one that the actuator has."""

    revision: int = 0


class IterationStarted(Struct, frozen=True):
    """A passage of the gate began. Ask `may_start` first: what the gate does not allow is not counted."""

    key: str
    iter: int | None = None


class IterationEnded(Struct, frozen=True):
    """A passage of the gate is over."""

    key: str


class WaitingForPerson(Struct, frozen=True):
    """A step waits for a person."""

    waiting: Waiting


class PersonAnswered(Struct, frozen=True):
    """A step waits no longer, whatever the reason."""

    step: int


class ModelSeen(Struct, frozen=True):
    """The agent has been seen to use this model: it was not requested, and needs no report."""

    model: str


class Held(Struct, frozen=True):
    """The supervisor pauses the run for a person; a person's pause is a command instead. Resume lifts it."""

    waiting: Waiting


class Released(Struct, frozen=True):
    """The supervisor takes its own pause back; a person's pause stays."""


class Actuated(Struct, frozen=True):
    """The actuator's answer to one revision."""

    revision: int
    ok: bool = True
    detail: str = ""


class Executed(Struct, frozen=True):
    """How a command that took its time went; `code` where it failed (`failed` if it is not said)."""

    request_id: str
    ok: bool
    message: str = ""
    code: Code | None = None
    details: dict[str, object] | None = None


class RunEnded(Struct, frozen=True):
    """The run is over by itself or by the supervisor; a person's cancel is a command instead."""

    reason: AbortReason | DoneReason


class Tick(Struct, frozen=True):
    """Time has passed."""


Event = (
    Received
    | ClientRefused
    | TransportNoted
    | OwnerStarted
    | IterationStarted
    | IterationEnded
    | ModelSeen
    | WaitingForPerson
    | PersonAnswered
    | Held
    | Released
    | Actuated
    | Executed
    | RunEnded
    | Tick
)
