"""Mutants of windows, ages and clocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from interlock.control import client, state_from_log, state_machine
from interlock.control.state import ControlState, StoredResult, StoredResults
from interlock.control.transition import Transition, fail

from . import owner_side
from .mutant import mutant, patched
from .simulation import World


@mutant
def retries_without_end() -> Iterator[object]:
    with patched(client, "LAST_SEND_S", 10_000.0) as patch:
        yield patch


def changed(answers: StoredResults, request_id: str, stored: StoredResult) -> StoredResults:
    return StoredResults({**dict(answers.items()), request_id: stored})


@mutant
def window_from_receipt() -> Iterator[object]:
    received: dict[tuple[int, str], float] = {}
    judge, answer = state_machine.validate, Transition.answer

    def note(turn: Transition, event: Any, request: Any) -> None:
        if turn.state.find(request.request_id) is None and request.request_id not in turn.state.answered:
            received[request.request_id] = turn.now.steady
        judge(turn, event, request)

    def early(turn: Transition, request: Any, fingerprint: bytes, payload: Any) -> Any:
        entry = answer(turn, request, fingerprint, payload)
        stored = turn.state.answered.get(request.request_id)
        assert stored is not None
        at = min(stored.at, received.get(request.request_id, stored.at))
        turn.change(answered=changed(turn.state.answered, request.request_id, replace(stored, at=at)))
        return entry

    with patched(state_machine, "validate", note), patched(Transition, "answer", early) as patch:
        yield patch


@mutant
def window_by_the_wall_clock() -> Iterator[object]:
    answer, forget = Transition.answer, state_machine.forget_old

    def stored(turn: Transition, request: Any, fingerprint: bytes, payload: Any) -> Any:
        entry = answer(turn, request, fingerprint, payload)
        kept = StoredResult(fingerprint, entry.body, turn.now.wall)
        turn.change(answered=changed(turn.state.answered, request.request_id, kept))
        return entry

    def forget_old(turn: Transition) -> None:
        now = turn.now
        turn.now = replace(now, steady=now.wall)
        forget(turn)
        turn.now = now

    recover = state_from_log.recover

    def recover_by_wall(records: Any, fresh: Any, now: Any, under_way: Any) -> ControlState:
        return recover(records, fresh, replace(now, steady=now.wall), under_way)

    with (
        patched(Transition, "answer", stored),
        patched(state_machine, "forget_old", forget_old),
        patched(owner_side, "recover", recover_by_wall) as patch,
    ):
        yield patch


@mutant
def window_of_recovered_results_by_the_wall_clock() -> Iterator[object]:
    recover = state_from_log.recover

    def by_wall(records: Any, fresh: Any, now: Any, under_way: Any) -> ControlState:
        state = recover(records, fresh, now, under_way)
        times = {msgspec.json.decode(r.body)["request_id"]: r.time for r in records if r.kind == "result"}
        answered = {k: replace(v, at=now.steady - (now.wall - times[k])) for k, v in state.answered.items()}
        return replace(state, answered=StoredResults(answered))

    with patched(owner_side, "recover", by_wall) as patch:
        yield patch


@mutant
def window_goes_on_while_the_owner_is_frozen() -> Iterator[object]:
    with patched(World, "live_time", lambda world: world.time) as patch:
        yield patch


@mutant
def age_by_the_senders_clock() -> Iterator[object]:
    def age_of(world: World, copy: Any) -> float:
        sent = msgspec.json.decode(copy.data)["timestamp"]
        import datetime

        return world.now().wall - datetime.datetime.fromisoformat(sent).timestamp()

    with patched(World, "age_of", age_of) as patch:
        yield patch


@mutant
def no_expiry() -> Iterator[object]:
    with patched(state_machine, "EXPIRY_S", 1e9) as patch:
        yield patch


@mutant
def expiry_answered_with_a_result() -> Iterator[object]:
    judge = state_machine.validate

    def answer(turn: Transition, event: Any, request: Any) -> None:
        before = len(turn.effects)
        judge(turn, event, request)
        if event.age > 30 and any(getattr(e, "entries", (None,))[0] is not None for e in turn.effects[before:]):
            turn.send(turn.result(request, fail("failed", "expired")), event.via, request.request_id)

    with patched(state_machine, "validate", answer) as patch:
        yield patch
