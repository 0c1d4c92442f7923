"""Whether what controllers were told is a possible history of the state machine.

The journal's order of RESULTs is the witness: it has to be a legal execution of the machine, agree with everything that
was told, and keep the order of commands that did not overlap. A history with such a witness is linearizable.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from interlock.core import Record

NEXT = {
    "running": {"pause": "paused", "cancel": "ended"},
    "paused": {"resume": "running", "cancel": "ended"},
    "ended": {},
}
"""The state machine: what each command makes of each status. Whatever is not here fails."""


def read_history(files: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Every operation by its id; one without `told` belonged to a controller that was killed."""
    found: dict[str, dict[str, Any]] = {}
    for file in files:
        for line in file.read_text().splitlines():
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                # Cut off by a kill.
                continue
            found.setdefault(row["id"], {}).update(row)
    return found


def judge(records: list[Record], operations: dict[str, dict[str, Any]], notes: list[str]) -> list[str]:
    """Every violation of one run, in words."""
    found: list[str] = []
    order: dict[str, int] = {}
    told: dict[str, tuple[str, str | None]] = {}
    effects: dict[str, int] = {}
    acknowledged: set[str] = set()
    status = "running"
    for record in records:
        message = msgspec.json.decode(record.body)
        request_id = message.get("request_id")
        if record.kind == "ack":
            acknowledged.add(request_id)
        if record.kind == "result":
            payload = message["payload"]
            if request_id in order:
                found.append(f"doubled: two RESULTs of {request_id}")
            order[request_id] = record.seq
            told[request_id] = payload["status"], payload.get("code")
            allowed = NEXT[status].get(message["command"])
            code = None if allowed else "not_found" if status == "ended" else "invalid_state"
            if payload.get("code") != code:
                found.append(f"illegal: {message['command']} while {status} gave {payload}")
            if payload["status"] == "success":
                status = allowed or status
        elif record.kind == "state" and request_id and message.get("status") != "paused":
            effects[request_id] = effects.get(request_id, 0) + 1
    found += [f"doubled: two effects of {request_id}" for request_id, count in effects.items() if count > 1]
    lost = sorted(acknowledged - set(order))
    found += [f"lost: {request_id} was acknowledged and has no RESULT" for request_id in lost]
    return [*found, *_check_told(operations, told, order), *_check_steps(notes)]


def _check_steps(notes: list[str]) -> list[str]:
    """No step starts between RESULT(pause) and RESULT(resume)."""
    shut_at: float | None = None
    found = []
    shut: list[tuple[float, float]] = []
    steps: list[tuple[float, float]] = []
    for words in (line.split() for line in notes):
        if words[0] == "tick" and len(words) == 3:
            steps.append((float(words[1]), float(words[2])))
        elif words[0] == "shut" and len(words) == 2:
            shut_at = float(words[1]) if shut_at is None else shut_at
        elif words[0] == "open" and len(words) == 2 and shut_at is not None:
            shut.append((shut_at, float(words[1])))
            shut_at = None
    shut.append((float("inf") if shut_at is None else shut_at, float("inf")))
    at = 0
    for before, after in sorted(steps):
        while shut[at][1] <= before:
            at += 1
        if shut[at][0] < before and after < shut[at][1]:
            found.append(f"a step at {before} while paused")
    return found


def _check_told(
    operations: dict[str, dict[str, Any]], told: dict[str, tuple[str, str | None]], order: dict[str, int]
) -> list[str]:
    found = []
    cancels = [
        row["asked"]
        for key, row in operations.items()
        if row.get("command") == "cancel" and told.get(key, ("",))[0] == "success"
    ]
    for request_id, row in operations.items():
        outcome = row.get("outcome")
        if outcome in ("success", "failure"):
            if request_id not in told and row["code"] == "not_found" and any(at < row["told"] for at in cancels):
                # Whoever finds that the run has ended says so without its owner.
                continue
            if request_id not in told:
                found.append(f"untrue: {request_id} was told {outcome}, and the journal does not know it")
            elif told[request_id] != (outcome, row["code"]):
                found.append(f"untrue: {request_id} was told {outcome} {row['code']}, not {told[request_id]}")
    # What was answered before another was asked comes before it.
    done = sorted((row["told"], order[key]) for key, row in operations.items() if "told" in row and key in order)
    newest, at = 0, 0
    for asked, seq in sorted((row["asked"], order[key]) for key, row in operations.items() if key in order):
        while at < len(done) and done[at][0] < asked:
            newest = max(newest, done[at][1])
            at += 1
        if seq < newest:
            found.append(f"reordered: the command at {seq} was asked after the one at {newest} was answered")
    return found
