"""The protocol's state machine: from a state and an event to the next state and effects. Pure: no I/O, no clock."""

from __future__ import annotations

from msgspec.structs import replace

from . import commands
from .decoding import Malformed, NotForUs, UnreadableMessage, decode_request, fingerprint_of
from .events import (
    Actuated,
    ClientRefused,
    Effect,
    Event,
    Executed,
    Held,
    IterationEnded,
    IterationStarted,
    LogEntry,
    ModelSeen,
    OwnerStarted,
    PersonAnswered,
    Received,
    Released,
    RunEnded,
    Tick,
    TransportNoted,
    WaitingForPerson,
)
from .messages import Request, ResultPayload, encode
from .state import EXPIRY_S, WINDOW_S, ClockReading, ControlState, InFlight
from .transition import Transition, fail


def handle(state: ControlState, event: Event, now: ClockReading) -> tuple[ControlState, list[Effect]]:
    """The state of a run after one event, and its effects."""
    turn = Transition(state, now)
    match event:
        case IterationStarted():
            start_iteration(turn, event)
        case IterationEnded():
            end_iteration(turn, event)
        case Received():
            forget_old(turn)
            receive(turn, event)
        case Actuated():
            commands.apply_actuated(turn, event)
        case Executed():
            commands.apply_executed(turn, event)
        case Tick():
            forget_old(turn)
            check_deadlines(turn)
        case RunEnded():
            commands.end_run(turn, event.reason)
        case OwnerStarted():
            start(turn, event)
        case WaitingForPerson():
            wait_for_person(turn, event)
        case PersonAnswered():
            stop_waiting(turn, event.step)
        case Held() | Released():
            commands.apply_supervisor_order(turn, event)
        case ModelSeen():
            see_model(turn, event)
        case ClientRefused():
            turn.audit("refused", why=event.why, actor=event.actor)
            turn.send(turn.reply(None, None, None, fail("bad_request", event.why)), event.via, None, direct=True)
        case TransportNoted():
            turn.audit(event.what, problem=event.problem, bytes=event.bytes, actor=event.actor)
    return turn.state, turn.effects


def receive(turn: Transition, event: Received) -> None:
    """One copy of a message."""
    match decode_request(event.data, strict_ids=turn.state.rules.strict_ids):
        case NotForUs():
            return
        case UnreadableMessage() as broken:
            turn.audit("unreadable", problem=broken.problem, bytes=len(event.data), actor=event.actor)
            body = turn.reply(None, None, None, fail("bad_request", broken.problem))
            turn.send(body, event.via, None, direct=True)
        case Malformed() as bad:
            turn.audit("bad_request", request_id=bad.request_id, problem=bad.problem, actor=event.actor)
            body = turn.reply(bad.request_id, bad.command, bad.target, fail("bad_request", bad.problem))
            turn.send(body, event.via, bad.request_id)
        case request:
            validate(turn, event, request)


def validate(turn: Transition, event: Received, request: Request) -> None:
    """Handle a valid request: known, too old, refused or accepted."""
    fingerprint = fingerprint_of(request)
    request_id, state = request.request_id, turn.state
    known = state.find(request_id) or state.answered.get(request_id)
    if known is not None:
        if known.fingerprint != fingerprint:
            problem = "this request_id was used with another command, target or payload"
            turn.audit("bad_request", request_id=request_id, problem=problem, actor=event.actor)
            turn.send(turn.result(request, fail("bad_request", problem)), event.via, request_id)
        elif isinstance(known, InFlight):
            still = fail("duplicate", f"{request.command} is still being executed")
            turn.send(turn.result(request, still), event.via, request_id)
        else:
            turn.send(known.result, event.via, request_id)
        return
    if event.age > EXPIRY_S:
        turn.audit("expired", request_id=request_id, command=request.command, age=event.age, actor=event.actor)
        return
    if event.actor is not None:
        actor = event.actor if request.actor is None else f"{event.actor} for {request.actor}"
        request = replace(request, actor=actor)
    entry = LogEntry("request", encode(request), request_id)
    refusal = find_refusal(state, request)
    if refusal is not None:
        turn.persist(entry, turn.answer(request, fingerprint, refusal))
        return
    turn.persist(entry, turn.ack_entry(request))
    turn.change(queue=(*state.queue, InFlight(request, fingerprint)))
    commands.work(turn)


def find_refusal(state: ControlState, request: Request) -> ResultPayload | None:
    """Why a request gets a RESULT and no ACK."""
    if request.command == "escalate" and not request.payload.get("force"):
        model = str(request.payload["model"])
        if not state.rules.knows(model):
            return fail("bad_request", f"the model {model!r} is unknown: repeat with force (--force) if it exists")
    target = request.target
    if target.run_id != state.run_id and all(frame.id != target.run_id for frame in state.stack):
        return fail("not_found", f"there is no run {target.run_id} here")
    if state.ended:
        return fail("not_found", f"the run has ended ({state.status})")
    if target.issue_id is not None and all(frame.issue_id != target.issue_id for frame in state.stack):
        return fail("not_found", f"the run is not working on issue {target.issue_id}")
    return None


def forget_old(turn: Transition) -> None:
    """Drop stored results whose window is over; commands in flight never expire."""
    answered, horizon = turn.state.answered, turn.now.steady - WINDOW_S
    if answered.oldest < horizon:
        turn.change(answered=answered.since(horizon))


def start(turn: Transition, event: OwnerStarted) -> None:
    """The owner started: put the actuator into the state of the log, then finish what was in flight."""
    state = turn.state
    # The previous owner may have requested one revision more than the log has.
    turn.change(revision=max(state.revision, event.revision) + 2, gate_open=False, phase="idle", asked=None)
    if state.ended:
        commands.set_desired(turn, commands.desired_now(turn))
        return
    turn.persist(turn.state_entry())
    # A gate that a command in flight shut stays shut until that command has its RESULT.
    first = state.queue[0].request.command if state.queue else None
    if not (state.status == "running" and first in ("pause", "cancel")):
        commands.set_desired(turn, commands.desired_now(turn))
    commands.park(turn)
    commands.work(turn)


def start_iteration(turn: Transition, event: IterationStarted) -> None:
    state = turn.state
    if not state.gate_open:
        return
    iterations = state.iterations + 1 if event.iter is None else event.iter
    stack = state.stack
    if stack:
        stack = (*stack[:-1], replace(stack[-1], iter=max(1, iterations)))
    turn.change(
        iterations=iterations, stack=stack, under_way=state.under_way | {event.key}, unannounced=state.unannounced + 1
    )


def end_iteration(turn: Transition, event: IterationEnded) -> None:
    if event.key in turn.state.under_way:
        turn.change(under_way=turn.state.under_way - {event.key})
        commands.park(turn)


def check_deadlines(turn: Transition) -> None:
    """Announce iterations, and repeat a desired state that the actuator has not confirmed."""
    if turn.state.unconfirmed is not None:
        turn.actuate(turn.state.unconfirmed)
    if turn.state.unannounced and not turn.state.ended:
        turn.persist(turn.state_entry(), durable=False)


def wait_for_person(turn: Transition, event: WaitingForPerson) -> None:
    if turn.state.ended:
        return
    others = tuple(item for item in turn.state.waiting if item.step != event.waiting.step)
    turn.change(waiting=(*others, event.waiting))
    turn.persist(turn.state_entry())


def stop_waiting(turn: Transition, step: int) -> None:
    left = tuple(item for item in turn.state.waiting if item.step != step)
    if len(left) != len(turn.state.waiting) and not turn.state.ended:
        turn.change(waiting=left)
        turn.persist(turn.state_entry())


def see_model(turn: Transition, event: ModelSeen) -> None:
    """Record the model that the agent uses in the current frame."""
    frame = turn.state.frame
    if turn.state.ended or frame is None or frame.model == event.model:
        return
    turn.change(stack=(*turn.state.stack[:-1], replace(frame, model=event.model)))
    turn.persist(turn.state_entry(), durable=False)
