"""Mutants of transactions, recovery, the gate and the controller."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from interlock.control import Desired, Persist, RequestRecord, client, commands, state_from_log, state_machine
from interlock.control.state import ControlState, StoredResults
from interlock.control.transition import Transition, succeed

from . import owner_side
from .mutant import mutant, patched
from .simulation import World


@mutant
def effect_in_its_own_transaction() -> Iterator[object]:
    carry_out = World.carry_out

    def split(world: World, effect: object) -> None:
        if not isinstance(effect, Persist):
            carry_out(world, effect)  # type: ignore[arg-type]
            return
        for entry in effect.entries:
            carry_out(world, Persist((entry,)))
            world.boundary()

    with patched(World, "carry_out", split) as patch:
        yield patch


@mutant
def state_event_before_the_result() -> Iterator[object]:
    persist = Transition.persist

    def reverse(turn: Transition, *entries: Any, durable: bool = True) -> None:
        kinds = [entry.kind for entry in entries]
        persist(turn, *(entries[::-1] if kinds == ["result", "state"] else entries), durable=durable)

    with patched(Transition, "persist", reverse) as patch:
        yield patch


@mutant
def dedup_in_memory() -> Iterator[object]:
    recover = state_from_log.recover

    def forgetful(*args: Any) -> ControlState:
        return replace(recover(*args), answered=StoredResults())

    with patched(owner_side, "recover", forgetful) as patch:
        yield patch


@mutant
def in_flight_in_memory() -> Iterator[object]:
    recover = state_from_log.recover

    def forgetful(*args: Any) -> ControlState:
        return replace(recover(*args), queue=())

    with patched(owner_side, "recover", forgetful) as patch:
        yield patch


@mutant
def duplicate_taken_as_final() -> Iterator[object]:
    def take(self: client.RequestClient, result: Any) -> None:
        code = result.payload.code or None
        self._end(result.payload.status, result.payload.message, code=code, result=result)

    with patched(client.RequestClient, "_record_result", take) as patch:
        yield patch


@mutant
def unknown_told_as_failed() -> Iterator[object]:
    def found(self: client.RequestClient, found: RequestRecord) -> None:
        self._looking = False
        self._end("failure", "timed out", code="failed")

    with patched(client.RequestClient, "found", found) as patch:
        yield patch


@mutant
def ended_run_answered_without_reading_the_record() -> Iterator[object]:
    found_before = client.RequestClient.found

    def found(self: client.RequestClient, found: RequestRecord) -> None:
        found_before(self, RequestRecord(run_status=found.run_status))

    with patched(client.RequestClient, "found", found) as patch:
        yield patch


@mutant
def ack_before_it_is_durable() -> Iterator[object]:
    carry_out = World.carry_out

    def hasty(world: World, effect: object) -> None:
        if isinstance(effect, Persist) and effect.entries[-1].kind == "ack":
            world.send_committed(effect.entries)
            world.boundary()
        carry_out(world, effect)  # type: ignore[arg-type]

    with patched(World, "carry_out", hasty) as patch:
        yield patch


@mutant
def result_told_before_it_is_durable() -> Iterator[object]:
    carry_out = World.carry_out

    def hasty(world: World, effect: object) -> None:
        if isinstance(effect, Persist) and effect.entries[0].kind == "result":
            world.send_committed(effect.entries)
            world.boundary()
        carry_out(world, effect)  # type: ignore[arg-type]

    with patched(World, "carry_out", hasty) as patch:
        yield patch


@mutant
def gate_in_memory_only() -> Iterator[object]:
    with patched(World, "gate_file_is_open", lambda world: True) as patch:
        yield patch


@mutant
def gate_shut_after_the_result() -> Iterator[object]:
    def pause(turn: Transition, at_once: bool) -> None:
        if turn.state.status != "running":
            commands.refuse(turn, "already")
            return
        status = "pausing" if turn.state.under_way else "paused"
        turn.change(status=status, revision=turn.state.revision + 1, cause=turn.state.queue[0].request.request_id)
        commands.finish(turn, succeed("paused"), tell_state=True)
        commands.set_desired(turn, Desired(turn.state.revision, status, True, turn.state.model))

    with patched(commands, "begin_pause", pause) as patch:
        yield patch


@mutant
def gate_opened_before_the_result() -> Iterator[object]:
    def resume(turn: Transition) -> None:
        if turn.state.status == "running":
            commands.refuse(turn, "already")
            return
        turn.change(status="running", revision=turn.state.revision + 1)
        commands.set_desired(turn, Desired(turn.state.revision, "running", False, turn.state.model))
        commands.finish(turn, succeed("resumed"), tell_state=True)

    with patched(commands, "begin_resume", resume) as patch:
        yield patch


@mutant
def actuator_without_a_fence() -> Iterator[object]:
    with patched(World, "fenced", lambda world, desired: True) as patch:
        yield patch


@mutant
def actuator_not_told_again_after_a_crash() -> Iterator[object]:
    def start(turn: Transition, event: Any) -> None:
        state = turn.state
        turn.change(phase="idle", gate_open=state.status == "running", revision=max(state.revision, event.revision))
        if not state.ended:
            commands.work(turn)

    with patched(state_machine, "start", start) as patch:
        yield patch


@mutant
def revisions_begin_anew_after_a_crash() -> Iterator[object]:
    start = state_machine.start

    def deaf(turn: Transition, event: Any) -> None:
        turn.change(revision=0)
        start(turn, replace(event, revision=0))

    with patched(state_machine, "start", deaf) as patch:
        yield patch


@mutant
def result_made_anew_for_a_retry() -> Iterator[object]:
    send = Transition.send

    def anew(turn: Transition, body: bytes, via: object, request_id: str | None, *, direct: bool = False) -> None:
        message = msgspec.json.decode(body)
        message["timestamp"] = turn.timestamp
        send(turn, msgspec.json.encode(message), via, request_id, direct=direct)

    with patched(Transition, "send", anew) as patch:
        yield patch


@mutant
def other_content_under_the_same_id_accepted() -> Iterator[object]:
    take = state_machine.fingerprint_of
    with patched(state_machine, "fingerprint_of", take):
        judge = state_machine.validate

        def trusting(turn: Transition, event: Any, request: Any) -> None:
            known = turn.state.answered.get(request.request_id)
            if known is not None and known.fingerprint != take(request):
                kept = {k: v for k, v in turn.state.answered.items() if k != request.request_id}
                turn.change(answered=StoredResults(kept))
            judge(turn, event, request)

        with patched(state_machine, "validate", trusting) as patch:
            yield patch


@mutant
def commands_behind_the_end_are_forgotten() -> Iterator[object]:
    end_run = commands.end_run

    def end(turn: Transition, reason: Any, by: str | None = None, left: str = "") -> None:
        turn.change(queue=turn.state.queue[:1] if by is not None else ())
        end_run(turn, reason, by, left)

    with patched(commands, "end_run", end) as patch:
        yield patch


@mutant
def an_iteration_that_ends_flips_the_status_back() -> Iterator[object]:
    def end_iteration(turn: Transition, event: Any) -> None:
        state = turn.state
        turn.change(under_way=state.under_way - {event.key})
        if state.status == "pausing":
            turn.change(status="running", gate_open=True)
            turn.persist(turn.state_entry())

    with patched(state_machine, "end_iteration", end_iteration) as patch:
        yield patch


@mutant
def paused_forgotten_after_a_crash() -> Iterator[object]:
    recover = state_from_log.recover

    def optimistic(*args: Any) -> ControlState:
        state = recover(*args)
        return state if state.ended else replace(state, status="running")

    with patched(owner_side, "recover", optimistic) as patch:
        yield patch


@mutant
def the_supervisor_resumes_what_a_person_paused() -> Iterator[object]:
    release = commands.release

    def rash(turn: Transition) -> None:
        turn.change(cause=None)
        release(turn)

    with patched(commands, "release", rash) as patch:
        yield patch
