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


def judge(records: list[Record], operations: dict[str, dict[str, Any]], ticks: list[tuple[float, float]]) -> list[str]:
    """Every violation of one run, in words."""
    found: list[str] = []
    order: dict[str, int] = {}
    told: dict[str, tuple[str, str | None]] = {}
    effects: dict[str, int] = {}
    status, shut_since = "running", None
    shut: list[tuple[float, float]] = []
    for record in records:
        message = msgspec.json.decode(record.body) if record.kind in ("result", "state") else {}
        request_id = message.get("request_id")
        if record.kind == "result":
            payload = message["payload"]
            if request_id in order:
                found.append(f"doubled: two RESULTs of {request_id}")
            order[request_id] = record.seq
            told[request_id] = payload["status"], payload.get("code")
            wanted = {"pause": "running", "resume": "paused"}[message["command"]]
            is_right = (status == wanted) == (payload["status"] == "success")
            if not is_right:
                found.append(f"illegal: {message['command']} while {status} gave {payload}")
            if payload["status"] == "success":
                status = "paused" if wanted == "running" else "running"
                if status == "paused":
                    shut_since = record.time
                elif shut_since is not None:
                    shut.append((shut_since, record.time))
                    shut_since = None
        elif record.kind == "state" and request_id and message.get("status") != "paused":
            effects[request_id] = effects.get(request_id, 0) + 1
    if shut_since is not None:
        shut.append((shut_since, float("inf")))
    found += [f"doubled: two effects of {request_id}" for request_id, count in effects.items() if count > 1]
    found += _check_told(operations, told, order)
    found += [
        f"a step at {before} while paused"
        for before, after in ticks
        if any(since < before and after < until for since, until in shut)
    ]
    return found


def _check_told(
    operations: dict[str, dict[str, Any]], told: dict[str, tuple[str, str | None]], order: dict[str, int]
) -> list[str]:
    found = []
    for request_id, row in operations.items():
        outcome = row.get("outcome")
        if outcome in ("success", "failure"):
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
