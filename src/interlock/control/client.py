"""RequestClient: the sender's side of one request. Sends, waits, retries, and ends with one outcome."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct
from msgspec.structs import replace

from .decoding import decode_control
from .messages import Ack, Command, Request, Result, Target, encode, format_time
from .state import ClockReading
from .state_from_log import RequestRecord

ACK_WAIT_S = 30.0
"""How long to wait for an ACK before the next copy is sent."""

LAST_SEND_S = 270.0
"""No copy is sent later than this: the stored RESULT lives 300 s, and a copy 30 s."""

Outcome = Literal["success", "failure", "unknown"]


class RequestOutcome(Struct, frozen=True, kw_only=True):
    """The outcome of a request. `unknown` is neither done nor failed: `accepted` says whether the run has it."""

    outcome: Outcome
    message: str
    code: str | None = None
    result: Result | None = None
    accepted: bool = False
    attempts: int = 1


class Transmit(Struct, frozen=True):
    """Send one copy."""

    data: bytes
    attempt: int


class LookUp(Struct, frozen=True):
    """Read the stored record and the run's state, and pass them to `found`."""


Action = Transmit | LookUp


def new_request(
    request_id: str,
    command: Command,
    run_id: str,
    payload: dict[str, object] | None = None,
    *,
    issue_id: str | None = None,
    actor: str | None = None,
    reason: str | None = None,
    batch_id: str | None = None,
) -> Request:
    """A new request; timestamp and attempt are set each time it is sent."""
    return Request(
        schema=0,
        request_id=request_id,
        command=command,
        target=Target(run_id, issue_id),
        timestamp="1970-01-01T00:00:00Z",
        payload=payload or {},
        actor=actor,
        reason=reason,
        batch_id=batch_id,
    )


class RequestClient:
    """One request. Feed it messages and time; do what it returns; read `answer` when it is not None.

    `timeout` is how long to wait for the RESULT, from the first copy.
    """

    def __init__(self, request: Request, timeout: float = 300.0) -> None:
        self.request = request
        self.timeout = timeout
        self.attempts = 0
        self.accepted = False
        self.answer: RequestOutcome | None = None
        self._started = 0.0
        self._next = 0.0
        self._looking = False

    def start(self, now: ClockReading) -> list[Action]:
        """Send the first copy."""
        self._started = now.steady
        return self._transmit(now)

    def wake_at(self) -> float | None:
        """When to call `tick` (steady clock); None when there is an answer."""
        if self.answer is not None or self._looking:
            return None
        return min(self._next, self._started + self.timeout)

    def receive(self, data: bytes, *, direct: bool = False) -> None:
        """Handle a message; those for other requests are ignored.

        On our own connection (`direct`) an error without a request_id can only be about our message.
        """
        message = decode_control(data)
        if self.answer is not None or message is None:
            return
        if direct and isinstance(message, Result) and message.request_id is None:
            self._record_result(message)
        if message.request_id != self.request.request_id:
            return
        if message.command != self.request.command:
            return
        if message.target is not None and message.target != self.request.target:
            # Another run's answer: ids belong to one run, and a topic may deliver it late.
            return
        if isinstance(message, Ack):
            self.accepted = True
        elif isinstance(message, Result):
            self._record_result(message)

    def tick(self, now: ClockReading) -> list[Action]:
        """Retry or look up the outcome, if it is time."""
        if self.answer is not None or self._looking:
            return []
        waited = now.steady - self._started
        if waited >= self.timeout:
            self._looking = True
            return [LookUp()]
        if now.steady < self._next:
            return []
        if waited > LAST_SEND_S:
            self._next = self._started + self.timeout
            return []
        return self._transmit(now)

    def retry(self, now: ClockReading) -> list[Action]:
        """Send the next copy now, because the connection broke."""
        if self.answer is not None or self._looking or now.steady - self._started > LAST_SEND_S:
            return []
        return self._transmit(now)

    def found(self, found: RequestRecord) -> None:
        """Apply the state of the request in the log, which is final; never "failed" if nothing is known."""
        self._looking = False
        if self.answer is not None:
            return
        stored = decode_control(found.result) if found.result is not None else None
        if isinstance(stored, Result):
            self._record_result(stored)
        elif found.accepted:
            self.accepted = True
            self._end("unknown", "accepted, not finished yet")
        elif found.run_ended:
            self._end("failure", "the run has ended", code="not_found")
        else:
            self._end("unknown", f"no reply; the run is {found.run_status}")

    def refuse(self, code: str, message: str) -> None:
        """End with an answer of the transport: there is nobody to ask."""
        if self.answer is None:
            self._end("failure", message, code=code)

    def _transmit(self, now: ClockReading) -> list[Action]:
        self.attempts += 1
        self._next = now.steady + ACK_WAIT_S
        copy = replace(self.request, timestamp=format_time(now.wall), attempt=self.attempts)
        return [Transmit(encode(copy), self.attempts)]

    def _record_result(self, result: Result) -> None:
        payload = result.payload
        code = payload.code if payload.code is not UNSET else None
        if code == "duplicate":
            # Advisory: the command is being executed, so the RESULT is still to come.
            self.accepted = True
            return
        if code == "bad_request" and self.accepted:
            # After an ACK it can only be for another sender with the same id.
            return
        self.accepted = self.accepted or code not in ("bad_request", "not_found")
        self._end(payload.status, payload.says, code=code, result=result)

    def _end(self, outcome: Outcome, message: str, *, code: str | None = None, result: Result | None = None) -> None:
        self.answer = RequestOutcome(
            outcome=outcome, message=message, code=code, result=result, accepted=self.accepted, attempts=self.attempts
        )
