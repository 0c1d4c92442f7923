"""Recovery: the state of a run, and the state of one request, from the run's log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..core import Record, Status, from_json, json_decoder
from .decoding import decode_current, fingerprint_of
from .messages import Abort, CurrentMessage, Done, Request, Result, State
from .state import ClockReading, ControlState, InFlight, StoredResult, StoredResults


def recover(
    records: Iterable[Record], fresh: ControlState, now: ClockReading, under_way: frozenset[str] = frozenset()
) -> ControlState:
    """The state of a run from its log, based on a fresh state. Post `OwnerStarted` next.

    Stored results live their whole window again from now, as clocks may have stepped meanwhile.
    """
    requests: dict[str, Request] = {}
    queue: dict[str, InFlight] = {}
    answered: dict[str, StoredResult] = {}
    state, cause, ordered = fresh, None, fresh.ordered
    for record in records:
        body = bytes(record.body)
        if record.kind == "request":
            request = from_json(body, Request)
            requests[request.request_id] = request
        elif record.kind == "ack":
            asked = requests.get(_request_id(body))
            if asked is not None:
                queue[asked.request_id] = InFlight(asked, fingerprint_of(asked))
        elif record.kind == "result":
            request_id = _request_id(body)
            queue.pop(request_id, None)
            # Removed first, because they are forgotten in insertion order.
            answered.pop(request_id, None)
            asked = requests.get(request_id)
            if asked is not None:
                answered[request_id] = StoredResult(fingerprint_of(asked), body, now.steady)
                if asked.command == "escalate" and from_json(body, Result).payload.status == "success":
                    ordered = str(asked.payload["model"])
        elif record.kind == "state":
            event = decode_current(body)
            if event is not None:
                if state.status == "running":
                    cause = event.request_id
                state = _apply_event(state, event)
    state = replace(state, ordered=ordered)
    if state.ended:
        return replace(state, answered=StoredResults(answered), queue=(), cause=cause)
    return replace(
        state, answered=StoredResults(answered), queue=tuple(queue.values()), cause=cause, under_way=under_way
    )


class RequestRecord(Struct, frozen=True):
    """The state of one request in a log: its RESULT, or that it was accepted, or nothing; and the state of the run."""

    result: bytes | None = None
    accepted: bool = False
    run_status: Status | Literal["unknown"] = "unknown"

    @property
    def run_ended(self) -> bool:
        return self.run_status in ("done", "aborted")


def find_request(records: Iterable[Record], request_id: str) -> RequestRecord:
    """Look up one request. Later records win: an id may be reused after its window."""
    found = RequestRecord()
    for record in records:
        if record.kind == "state":
            event = decode_current(bytes(record.body))
            if event is not None:
                found = replace(found, run_status=status_of(event))
        elif record.kind in ("request", "ack", "result"):
            body = bytes(record.body)
            if _request_id(body) != request_id:
                continue
            if record.kind == "request":
                found = replace(found, result=None, accepted=False)
            elif record.kind == "ack":
                found = replace(found, accepted=True)
            else:
                found = replace(found, result=body)
    return found


def status_of(event: CurrentMessage) -> Status:
    """The status in a message of loop:current."""
    if isinstance(event, Abort):
        return "aborted"
    if isinstance(event, Done):
        return "done"
    return event.status or "running"


class _Id(Struct):
    request_id: str = ""


_id_decoder = json_decoder(_Id)


def _request_id(body: bytes) -> str:
    return _id_decoder.decode(body).request_id


def _apply_event(state: ControlState, event: CurrentMessage) -> ControlState:
    revision = max(state.revision, event.revision or 0)
    if not isinstance(event, State):
        return replace(state, status=status_of(event), stack=(), waiting=(), held=None, revision=revision)
    # An approval belongs to a step; resume ends any other wait.
    held = event.waiting if event.waiting and event.waiting.kind != "approval" else None
    waiting = (event.waiting,) if event.waiting and held is None else ()
    stack = event.stack or state.stack
    iterations = max(state.iterations, stack[-1].iter if stack else 0)
    return replace(
        state,
        status=status_of(event),
        stack=stack,
        waiting=waiting,
        held=held,
        revision=revision,
        iterations=iterations,
    )
