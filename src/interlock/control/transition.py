"""Transition: the handling of one event, with the new state and the effects."""

from __future__ import annotations

import msgspec

from .events import Actuate, Audit, Desired, Effect, Execute, LogEntry, Persist, Send
from .messages import (
    ABORT_REASONS,
    Abort,
    AbortReason,
    Ack,
    Code,
    Done,
    DoneReason,
    Request,
    Result,
    ResultPayload,
    State,
    Target,
    encode,
    format_time,
)
from .state import ClockReading, ControlState, StoredResult


class Transition:
    """Exists for one call of `handle`, and is the only mutable value in it."""

    def __init__(self, state: ControlState, now: ClockReading) -> None:
        self.state = state
        self.now = now
        self.effects: list[Effect] = []
        self._timestamp = ""

    @property
    def timestamp(self) -> str:
        self._timestamp = self._timestamp or format_time(self.now.wall)
        return self._timestamp

    def change(self, **changes: object) -> None:
        self.state = msgspec.structs.replace(self.state, **changes)

    def persist(self, *entries: LogEntry, durable: bool = True) -> None:
        self.effects.append(Persist(entries, durable))

    def audit(self, what: str, **details: object) -> None:
        """Record what was not carried out, and why."""
        row = Audit(what=what, time=self.timestamp, **details)  # type: ignore[arg-type]
        self.persist(LogEntry("audit", msgspec.json.encode(row)), durable=False)

    def send(self, body: bytes, via: object, request_id: str | None, *, direct: bool = False) -> None:
        self.effects.append(Send(body, via, request_id, direct))

    def actuate(self, desired: Desired) -> None:
        self.effects.append(Actuate(desired))

    def execute(self, request: Request) -> None:
        self.effects.append(Execute(request.request_id, request.command, request.payload))

    def ack_entry(self, request: Request) -> LogEntry:
        ack = Ack(
            schema=0,
            request_id=request.request_id,
            command=request.command,
            target=request.target,
            timestamp=self.timestamp,
            payload={},
            batch_id=request.batch_id,
        )
        return LogEntry("ack", encode(ack), request.request_id)

    def result(self, request: Request, payload: ResultPayload) -> bytes:
        return self.reply(request.request_id, request.command, request.target, payload, request.batch_id)

    def reply(
        self,
        request_id: str | None,
        command: str | None,
        target: Target | None,
        payload: ResultPayload,
        batch_id: str | None = None,
    ) -> bytes:
        """The bytes of a RESULT."""
        return encode(
            Result(
                schema=0,
                request_id=request_id,
                command=command,
                target=target,
                timestamp=self.timestamp,
                payload=payload,
                batch_id=batch_id,
            )
        )

    def answer(self, request: Request, fingerprint: bytes, payload: ResultPayload) -> LogEntry:
        """The RESULT of a request, stored for the window; the caller persists it."""
        body = self.result(request, payload)
        stored = StoredResult(fingerprint, body, self.now.steady)
        self.change(answered=self.state.answered.add(request.request_id, stored))
        return LogEntry("result", body, request.request_id)

    def state_entry(self, cause: str | None = None) -> LogEntry:
        """The STATE of the run as it is now."""
        state = self.state
        if state.status == "done" or state.status == "aborted":
            raise AssertionError("a run that has ended has no STATE")
        event = State(
            schema=1,
            run_id=state.run_id,
            updated_at=self.timestamp,
            stack=state.stack,
            status=state.status,
            request_id=cause,
            waiting=state.held or (state.waiting[0] if state.waiting else None),
            revision=state.revision,
        )
        return self._event(event, cause)

    def end_entry(self, reason: AbortReason | DoneReason, cause: str | None = None) -> LogEntry:
        """The ABORT or DONE of the run."""
        kind = Abort if reason in ABORT_REASONS else Done
        event = kind(
            schema=1,
            reason=reason,  # type: ignore[arg-type]
            stack=(),
            run_id=self.state.run_id,
            updated_at=self.timestamp,
            request_id=cause,
            revision=self.state.revision,
        )
        return self._event(event, cause)

    def _event(self, event: State | Abort | Done, cause: str | None) -> LogEntry:
        if self.state.unannounced:
            self.change(unannounced=0)
        return LogEntry("state", encode(event), cause)


def succeed(message: str, **more: object) -> ResultPayload:
    return ResultPayload(status="success", message=message, **more)  # type: ignore[arg-type]


def fail(code: Code, message: str, **more: object) -> ResultPayload:
    return ResultPayload(status="failure", code=code, message=message, **more)  # type: ignore[arg-type]
