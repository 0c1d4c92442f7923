"""What everybody saw, held against the journal."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from interlock.control import CONTROL_KINDS
from interlock.core import Record
from interlock.journal import JournalReader, RunFolder


def judge(folder: RunFolder, told_file: Path, steps_file: Path) -> dict[str, object]:
    """Counts of everything that may not happen, and of what did."""
    with JournalReader.open(folder) as reader:
        records = list(reader.read(kinds=CONTROL_KINDS))
        broken = reader.check()
    told = [json.loads(line) for line in read_lines(told_file)]
    steps = [json.loads(line) for line in read_lines(steps_file)]
    messages = [(record, msgspec.json.decode(record.body)) for record in records]
    acked = [m["request_id"] for r, m in messages if r.kind == "ack"]
    results: dict[str, list[bytes]] = {}
    effects: dict[str, int] = {}
    status = "running"
    for record, message in messages:
        if record.kind == "result":
            results.setdefault(message["request_id"], []).append(bytes(record.body))
        elif record.kind == "state":
            if message.get("request_id") and not (status == "pausing" and message["status"] == "paused"):
                effects[message["request_id"]] = effects.get(message["request_id"], 0) + 1
            status = message["status"]
    return {
        "commands": len(told),
        "steps": len(steps),
        "steps by file": sum(by == "file" for _, _, by in steps),
        "outcomes": {o: sum(line[2] == o for line in told) for o in ("success", "failure", "unknown")},
        "lost": sum(request_id not in results for request_id in acked)
        + sum(outcome == "success" and not effects.get(request_id) for request_id, _, outcome, _, _ in told),
        "doubled": sum(len(bodies) > 1 for bodies in results.values()) + sum(n > 1 for n in effects.values()),
        "told failure though it took effect": sum(line[2] == "failure" and line[0] in effects for line in told),
        "order": count_disorder(messages),
        "steps while paused": count_steps_while_paused(messages, told, steps),
        "journal": broken,
    }


def read_lines(path: Path) -> list[str]:
    """Whole lines: a writer may have been killed in the middle of its last one."""
    text = path.read_text() if path.exists() else ""
    return [line for line in text.split("\n")[:-1] if line.endswith("]")]


def count_disorder(messages: list[tuple[Record, dict[str, object]]]) -> int:
    """RESULT comes directly before the state event that it causes; ACK before both."""
    bad = 0
    last_result = ""
    for record, message in messages:
        if record.kind == "result":
            last_result = str(message["request_id"])
        elif record.kind == "state" and message.get("request_id") and message["status"] != "paused":
            bad += message["request_id"] != last_result
    return bad


def count_steps_while_paused(
    messages: list[tuple[Record, dict[str, object]]], told: list[list[object]], steps: list[list[object]]
) -> int:
    """Steps that began after a pause was told and were let through before the next resume was even written."""
    told_at = {line[0]: float(line[4]) for line in told if line[2] == "success"}  # type: ignore[arg-type]
    spans: list[tuple[float, float]] = []
    since: float | None = None
    for record, message in messages:
        if record.kind != "result" or message["payload"]["status"] != "success":  # type: ignore[index]
            continue
        if message["command"] == "pause":
            since = told_at.get(message["request_id"])
        elif message["command"] == "resume" and since is not None:
            spans.append((since, record.time))
            since = None
    if since is not None:
        spans.append((since, float("inf")))
    return sum(begin < float(asked) and float(done) < end for begin, end in spans for asked, done, _ in steps)  # type: ignore[arg-type]
