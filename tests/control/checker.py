"""The checker: what must be true of every world, whatever happened in it."""

from __future__ import annotations

import msgspec

from .simulation import World


def check(world: World) -> list[str]:
    """Every violation, in words that do not depend on the seed."""
    found = set(world.violations)
    effects, results, accepted = _read_log(world, found)
    _check_controllers(world, effects, results, found)
    _check_pause_truth(world, found)
    for request_id in accepted:
        if request_id not in results:
            found.add("lost after ACK: no RESULT")
    _check_outside(world, found)
    return sorted(found)


def _read_log(world: World, found: set[str]) -> tuple[dict[str, int], dict[str, bytes], list[str]]:
    """Effects per request, the RESULT of each, and what was acknowledged; with every violation of order on the way."""
    effects: dict[str, int] = {}
    results: dict[str, bytes] = {}
    result_at: dict[str, int] = {}
    accepted: list[str] = []
    status, ended = "running", False
    for index, record in enumerate(world.log):
        if record.kind == "audit":
            continue
        body = bytes(record.body)
        message = msgspec.json.decode(body)
        request_id = message.get("request_id")
        if record.kind == "ack":
            accepted.append(request_id)
        elif record.kind == "result":
            if results.setdefault(request_id, body) != body or request_id in result_at:
                found.add("two different RESULTs in the log")
            result_at[request_id] = index
        elif record.kind == "state":
            if ended:
                found.add("a state event after the end")
            after = message.get("status", "ended")
            # Pausing to paused is the same pause coming to rest.
            if request_id is not None and not (status == "pausing" and after == "paused"):
                effects[request_id] = effects.get(request_id, 0) + 1
                if request_id not in result_at:
                    found.add("RESULT after its state event")
                elif world.transaction_of[result_at[request_id]] != world.transaction_of[index]:
                    found.add("RESULT and its state event in two transactions")
            status, ended = after, message["event"] != "STATE"
    for request_id, count in effects.items():
        if count > 1:
            found.add("duplicate effect")
        if b'"status":"failure"' in results.get(request_id, b""):
            found.add("failure in the log though it took effect")
    for request_id, body in results.items():
        if b'"status":"success"' in body and not effects.get(request_id):
            found.add("success without effect")
    return effects, results, accepted


def _check_controllers(world: World, effects: dict[str, int], results: dict[str, bytes], found: set[str]) -> None:
    heard: dict[str, set[bytes]] = {}
    for told in world.told:
        request_id = world.controllers[told.number].request.request_id
        if told.code not in ("duplicate", "bad_request"):
            heard.setdefault(request_id, set()).add(told.body)
    for request_id, bodies in heard.items():
        if len(bodies) > 1 or results.get(request_id) not in bodies:
            found.add("two different RESULTs")
    for number, answer in world.answers.items():
        request_id = world.controllers[number].request.request_id
        took_effect = bool(effects.get(request_id))
        if answer.outcome == "success" and not took_effect:
            found.add("success told without effect")
        if answer.outcome == "failure" and took_effect:
            found.add("failure told though it took effect")
    if len(world.answers) != len(world.controllers):
        found.add("a controller without an answer")


def _check_pause_truth(world: World, found: set[str]) -> None:
    """Between RESULT(pause) and RESULT(resume) no iteration starts, nor after the end."""
    shut_at: list[str] = [""]
    for record in world.log:
        now = shut_at[-1]
        if record.kind == "result":
            message = msgspec.json.decode(record.body)
            if message["payload"]["status"] == "success":
                now = {"pause": "paused", "resume": "", "cancel": "over"}.get(message["command"], now)
        elif record.kind == "state" and b'"event":"STATE"' not in bytes(record.body):
            now = "over"
        shut_at.append(now)
    for passage in world.passages:
        where = shut_at[passage.log_length]
        if where:
            found.add(f"iteration started while {where}")


def _check_outside(world: World, found: set[str]) -> None:
    """When everything has settled, what acts outside is what the log says."""
    state, actuator = world.state, world.actuator
    if actuator.status != state.status or actuator.shut != (state.status != "running"):
        found.add("success without effect outside: the actuator is in another state")
    elif not state.ended and actuator.model != state.model:
        found.add("success without effect outside: the actuator has another model")
    elif state.gate_open == actuator.shut:
        found.add("the gate and the actuator differ")
    for request_id, ok in world.executions.items():
        result = next(
            (bytes(r.body) for r in world.log if r.kind == "result" and f'"{request_id}"' in str(bytes(r.body))), b""
        )
        if (b'"status":"success"' in result) and not ok:
            found.add("success without effect outside: not executed")
