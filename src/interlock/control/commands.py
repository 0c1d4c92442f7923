"""The commands: how each one begins, what it waits for, and its RESULT."""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from ..core import Status, from_plain
from .events import Actuated, Desired, Executed, Held, LogEntry, Released
from .messages import (
    ABORT_REASONS,
    AbortReason,
    AnswerPayload,
    DoneReason,
    EscalatePayload,
    Request,
    ResultPayload,
    Waiting,
)
from .state import InFlight, Phase
from .transition import Transition, fail, succeed


def work(turn: Transition) -> None:
    """Begin commands in sequence until one has to wait for the actuator."""
    while turn.state.queue and turn.state.phase == "idle":
        begin(turn, turn.state.queue[0].request)


def begin(turn: Transition, request: Request) -> None:
    match request.command:
        case "pause":
            begin_pause(turn, is_at_once(request))
        case "resume":
            begin_resume(turn)
        case "cancel":
            # Before the RESULT says so, everything has ended or is named.
            ask(turn, "closing", status="aborted", shut=True)
        case "escalate":
            begin_escalate(turn, from_plain(request.payload, EscalatePayload))
        case "approve" | "reject":
            begin_answer(turn, request, from_plain(request.payload, AnswerPayload))
        case "rollback":
            turn.change(phase="executing")
            turn.execute(request)


def begin_pause(turn: Transition, at_once: bool) -> None:
    if turn.state.status != "running" and not (at_once and turn.state.status == "pausing"):
        refuse(turn, f"the run is already {turn.state.status}")
    else:
        waits = turn.state.under_way and not at_once
        ask(turn, "closing", status="pausing" if waits else "paused", shut=True)


def is_at_once(request: Request) -> bool:
    """Whether a pause stops the run in the middle of a step instead of waiting for it."""
    return request.payload.get("now") is True


def begin_resume(turn: Transition) -> None:
    if turn.state.status == "running":
        refuse(turn, "the run is already running")
        return
    turn.change(status="running", revision=turn.state.revision + 1, held=None)
    finish(turn, succeed(f"resumed at iteration {turn.state.iter}"), tell_state=True)
    # Open only now: no iteration may start before the RESULT is durable.
    set_desired(turn, desired_now(turn))


def begin_escalate(turn: Transition, payload: EscalatePayload) -> None:
    state, model = turn.state, payload.model
    if state.rules.cannot_switch:
        refuse(turn, state.rules.cannot_switch)
    elif state.frame is None:
        refuse(turn, "the run has no frame whose model could change")
    elif state.rules.is_same(model, state.model):
        refuse(turn, f"the run already uses the model {model}")
    elif (found := state.rules.compare(model, state.model)) in ("weaker", "equal"):
        refuse(turn, f"{model} is {'weaker than' if found == 'weaker' else 'as strong as'} {state.model}")
    elif found is None and not payload.force:
        refuse(
            turn, f"it is unknown whether {model} is stronger than {state.model}: repeat with force (--force) if it is"
        )
    else:
        ask(turn, "switching", status=state.status, shut=state.status != "running", model=model)


def begin_answer(turn: Transition, request: Request, payload: AnswerPayload) -> None:
    asked = next((item for item in turn.state.waiting if item.step == payload.step), None)
    if asked is None:
        refuse(turn, f"step {payload.step} does not need approval")
    elif payload.digest and asked.digest and payload.digest != asked.digest:
        refuse(turn, f"the call of step {payload.step} has changed since you were asked: review it again")
    else:
        turn.change(phase="executing")
        turn.execute(request)


def ask(turn: Transition, phase: Phase, *, status: Status, shut: bool, model: str | None = None) -> None:
    """Have the actuator act before the RESULT is sent."""
    desired = Desired(turn.state.revision + 1, status, shut, model or turn.state.ordered)
    gate_open = turn.state.gate_open and not shut
    turn.change(phase=phase, asked=desired, revision=desired.revision, gate_open=gate_open, unconfirmed=None)
    turn.actuate(desired)


def set_desired(turn: Transition, desired: Desired) -> None:
    """Make the actuator follow the log; repeated until it has."""
    turn.change(unconfirmed=desired, gate_open=False)
    turn.actuate(desired)


def desired_now(turn: Transition) -> Desired:
    """The state that the actuator must reach for the run to match the log."""
    state = turn.state
    return Desired(state.revision, state.status, state.status != "running", state.ordered)


def apply_actuated(turn: Transition, event: Actuated) -> None:
    """Handle the actuator's answer; one to an older revision is ignored."""
    state = turn.state
    if state.asked is not None and event.revision == state.asked.revision and state.queue:
        conclude(turn, state.asked, state.queue[0].request, event)
        if later := turn.state.later:
            turn.change(later=())
            for wish in later:
                apply_supervisor_order(turn, wish)
        park(turn)
        work(turn)
    elif state.unconfirmed is not None and event.revision == state.unconfirmed.revision and event.ok:
        turn.change(unconfirmed=None, gate_open=not state.unconfirmed.shut)


def conclude(turn: Transition, asked: Desired, request: Request, event: Actuated) -> None:
    """Finish the first command: the actuator did what it needs, or could not."""
    state = turn.state
    if request.command == "cancel":
        # A process that cannot be ended does not keep a person from ending the run.
        end_run(turn, "USER_CANCELLED", by=request.request_id, left="" if event.ok else event.detail)
    elif not event.ok:
        turn.change(revision=state.revision + 1)
        finish(turn, fail("failed", event.detail or f"{request.command} could not be carried out"))
        # Nothing changed, but the log must have every revision that an actuator may have seen.
        turn.persist(turn.state_entry())
        set_desired(turn, desired_now(turn))
    elif request.command == "pause":
        status = "pausing" if state.under_way and not is_at_once(request) else "paused"
        moved_on = status != asked.status
        turn.change(status=status, cause=request.request_id, revision=state.revision + moved_on)
        done = succeed_except(event.detail, f"paused at iteration {state.iter}", run_status=status)
        finish(turn, done, tell_state=True)
        if moved_on:
            set_desired(turn, desired_now(turn))
    else:
        conclude_escalate(turn, asked, from_plain(request.payload, EscalatePayload))


def conclude_escalate(turn: Transition, asked: Desired, payload: EscalatePayload) -> None:
    previous, frame = turn.state.model, turn.state.stack[-1]
    frame = replace(frame, model=asked.model, escalation_reason=payload.reason or frame.escalation_reason)
    turn.change(stack=(*turn.state.stack[:-1], frame), gate_open=not asked.shut, ordered=asked.model)
    message = f"escalated from {previous or 'an unknown model'} to {payload.model}"
    finish(turn, succeed(message, previous_model=previous, new_model=payload.model), tell_state=True)


def apply_executed(turn: Transition, event: Executed) -> None:
    """Handle the outcome of a command that took time."""
    state = turn.state
    if state.phase != "executing" or not state.queue or state.queue[0].request.request_id != event.request_id:
        return
    request = state.queue[0].request
    turn.change(phase="idle")
    details = event.details if event.details is not None else UNSET
    if not event.ok:
        message = event.message or f"{request.command} could not be carried out"
        finish(turn, fail(event.code or "failed", message, details=details))
    else:
        if request.command in ("approve", "reject"):
            step = request.payload["step"]
            turn.change(waiting=tuple(item for item in state.waiting if item.step != step))
        finish(turn, succeed(event.message or f"{request.command} done", details=details), tell_state=True)
    work(turn)


def park(turn: Transition) -> None:
    """Pausing becomes paused when nothing is under way, but not while the actuator works on a command."""
    if turn.state.status == "pausing" and not turn.state.under_way and turn.state.asked is None:
        turn.change(status="paused", revision=turn.state.revision + 1)
        turn.persist(turn.state_entry(turn.state.cause))
        set_desired(turn, desired_now(turn))


def apply_supervisor_order(turn: Transition, event: Held | Released) -> None:
    """The supervisor pauses or continues the run, but not while the actuator works on a command."""
    if turn.state.asked is not None:
        turn.change(later=(*turn.state.later, event))
    elif isinstance(event, Held):
        hold(turn, event.waiting)
    else:
        release(turn)


def hold(turn: Transition, waiting: Waiting) -> None:
    """Shut the gate, then record it. For a paused run only the reason is recorded."""
    if turn.state.ended:
        return
    turn.change(held=waiting)
    if turn.state.status == "running":
        status: Status = "pausing" if turn.state.under_way else "paused"
        turn.change(status=status, revision=turn.state.revision + 1, cause=None)
        set_desired(turn, desired_now(turn))
    turn.persist(turn.state_entry())


def release(turn: Transition) -> None:
    """Record it, then open the gate; but only a person resumes what a person paused."""
    if turn.state.held is None:
        return
    turn.change(held=None)
    if turn.state.cause is not None:
        turn.persist(turn.state_entry())
    else:
        turn.change(status="running", revision=turn.state.revision + 1)
        turn.persist(turn.state_entry())
        set_desired(turn, desired_now(turn))


def end_run(turn: Transition, reason: AbortReason | DoneReason, by: str | None = None, left: str = "") -> None:
    """End the run in one transaction: commands in flight get `not_found`, except the cancel that caused it.

    `left` names what that cancel could not end.
    """
    if turn.state.ended:
        return
    status: Status = "aborted" if reason in ABORT_REASONS else "done"
    queue = turn.state.queue
    turn.change(
        status=status,
        revision=turn.state.revision + 1,
        stack=(),
        waiting=(),
        held=None,
        later=(),
        under_way=frozenset(),
        queue=(),
        phase="idle",
        asked=None,
        cause=by,
        ended_by=queue[0].request.actor if by is not None else None,
    )
    entries: list[LogEntry] = []
    if by is not None:
        first, queue = queue[0], queue[1:]
        entries.append(turn.answer(first.request, first.fingerprint, succeed_except(left, "cancelled")))
    entries.append(turn.end_entry(reason, by))
    entries += [_too_late(turn, item) for item in queue]
    turn.persist(*entries)
    set_desired(turn, desired_now(turn))


def finish(turn: Transition, payload: ResultPayload, *, tell_state: bool = False) -> None:
    """Write the RESULT of the first command and the state that it causes, in one transaction."""
    first, rest = turn.state.queue[0], turn.state.queue[1:]
    turn.change(queue=rest, phase="idle", asked=None)
    entries = [turn.answer(first.request, first.fingerprint, payload)]
    if tell_state:
        entries.append(turn.state_entry(first.request.request_id))
    turn.persist(*entries)


def succeed_except(processes: str, message: str, **more: object) -> ResultPayload:
    """Success, naming the processes that it did not reach, if any."""
    if not processes:
        return succeed(message, **more)
    return succeed(f"{message}; {processes}", details={"processes": processes}, **more)


def refuse(turn: Transition, why: str) -> None:
    finish(turn, fail("invalid_state", why, run_status=turn.state.status))


def _too_late(turn: Transition, item: InFlight) -> LogEntry:
    return turn.answer(item.request, item.fingerprint, fail("not_found", "the run ended before this was executed"))
