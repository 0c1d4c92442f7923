"""Traces are read whatever their kind, and every fault is named with its line."""

import gzip
import json
from pathlib import Path

import pytest

from interlock.adapters.traces import (
    LineError,
    TraceBegin,
    TraceEnd,
    TraceEvent,
    TraceScanner,
    find_workspace,
    read_batches,
    read_lines,
)
from interlock.adapters.traces import lines as lines_module
from interlock.config import Config
from interlock.core import BadInput, Step, Tool


def read_events(name: str) -> list[TraceEvent]:
    return [event for batch in read_batches(name) for event in batch]


def write(path: Path, *lines: object) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def steps_of(name: str) -> list[Step]:
    return [event for event in read_events(name) if isinstance(event, Step)]


def faults_of(name: str) -> list[LineError]:
    return [event for event in read_events(name) if isinstance(event, LineError)]


TRACE = {
    "trace_id": "t1",
    "task": "fix it",
    "steps": [
        {
            "index": 0,
            "role": "assistant",
            "content": "I look",
            "tool": {"name": "bash", "arguments": {"command": "ls"}},
        },
        {
            "index": 1,
            "role": "tool",
            "content": "a.py",
            "error": False,
            "tokens": 12,
            "timestamp": "2025-01-02T03:04:05Z",
        },
    ],
}


def test_a_whole_trace_on_a_line_begins_gives_its_steps_and_ends(tmp_path):
    events = list(read_events(write(tmp_path / "t.jsonl", TRACE)))
    assert events[0] == TraceBegin("t1", "fix it")
    assert events[-1] == TraceEnd("t1")
    call, result = events[1], events[2]
    assert (call.kind, call.tool.name, call.tool.arguments) == ("tool_call", "bash", {"command": "ls"})
    assert (result.kind, result.usage.tokens, result.time) == ("tool_result", 12, 1735787045.0)


def test_after_a_whole_trace_every_kind_of_line_is_still_told_apart(tmp_path):
    broken = {**TRACE, "trace_id": "t2", "steps": [{"role": "nobody"}]}
    step = {"run_id": "a", "index": 0, "role": "user", "content": "do it"}
    name = write(tmp_path / "t.jsonl", TRACE, broken, TRACE, step, TRACE)
    assert [one.run_id for one in steps_of(name)] == ["t1", "t1", "t1", "t1", "a", "t1", "t1"]
    (fault,) = faults_of(name)
    assert fault.line == 2
    assert "role" in fault.what


def test_gzip_is_recognised_by_its_content_not_by_its_name(tmp_path):
    (tmp_path / "t.jsonl").write_bytes(gzip.compress(json.dumps(TRACE).encode()))
    assert len(steps_of(str(tmp_path / "t.jsonl"))) == 2


def test_step_lines_are_grouped_by_run_also_when_they_interleave(tmp_path):
    name = write(
        tmp_path / "s.jsonl",
        {"run_id": "a", "index": 0, "role": "user", "content": "do it"},
        {"run_id": "b", "index": 0, "role": "assistant", "content": "hello"},
        {"run_id": "a", "index": 1, "role": "assistant", "content": "done"},
    )
    events = list(read_events(name))
    assert [event.trace_id for event in events if isinstance(event, TraceBegin)] == ["a", "b"]
    assert [event.task for event in events if isinstance(event, TraceBegin)] == ["do it", ""]
    assert [(step.run_id, step.index) for step in events if isinstance(step, Step)] == [("a", 0), ("b", 0), ("a", 1)]


def test_a_transcript_gives_calls_results_and_charges_a_split_message_once(tmp_path):
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 100}
    head = {"sessionId": "s", "timestamp": "2026-01-01T00:00:00Z"}
    message = {"role": "assistant", "id": "m1", "model": "claude", "usage": usage}
    name = write(
        tmp_path / "c.jsonl",
        {"type": "summary", "summary": "x"},
        {"type": "user", "message": {"role": "user", "content": "fix the tests"}, **head},
        {"type": "assistant", "message": {**message, "content": [{"type": "text", "text": "I look"}]}, **head},
        {
            "type": "assistant",
            "message": {
                **message,
                "content": [{"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}],
            },
            **head,
        },
        {
            "type": "user",
            "message": {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c1",
                        "is_error": True,
                        "content": [{"type": "text", "text": "no"}],
                    }
                ],
            },
            **head,
        },
    )
    events = list(read_events(name))
    steps = [event for event in events if isinstance(event, Step)]
    assert events[0] == TraceBegin("s", "fix the tests")
    assert [step.kind for step in steps] == ["message", "message", "tool_call", "tool_result"]
    assert sum(step.usage.tokens for step in steps if step.usage) == 115
    assert (steps[3].content, steps[3].error, steps[3].tool.call_id) == ("no", True, "c1")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "the file is empty"),
        (b"\x00\x01\x02\x03\n", "this is binary"),
        (b'{"role": "user", "content": "\xff\xfe"}\n', "not UTF-8"),
        (b"hello there\n", "this is not JSON"),
        (b'{"content": "no role"}\n', "`role`"),
        (b'{"trace_id": "t", "steps": [{"content": "no role"}]}\n', "`role`"),
        (b'{"steps": []}\n', "`trace_id`"),
        (b"[1, 2]\n", "invalid step or trace"),
        (b"[" * 100_000 + b"\n", ""),
    ],
    ids=["empty", "binary", "latin", "text", "no-role", "no-role-in-trace", "no-id", "list", "deep"],
)
def test_a_bad_line_is_named_with_what_is_wrong(tmp_path, content, what):
    (tmp_path / "bad.jsonl").write_bytes(content)
    faults = faults_of(str(tmp_path / "bad.jsonl"))
    assert len(faults) == 1
    assert faults[0].line == 1
    assert what in faults[0].what
    assert faults[0].todo


def test_lines_around_a_bad_one_are_still_read(tmp_path):
    good = json.dumps(TRACE)
    (tmp_path / "t.jsonl").write_text(f"{good}\nnonsense\n{good}\n")
    events = list(read_events(str(tmp_path / "t.jsonl")))
    assert sum(isinstance(event, Step) for event in events) == 4
    assert [event.line for event in events if isinstance(event, LineError)] == [2]


def test_a_truncated_gzip_gives_what_it_has_and_says_so(tmp_path):
    whole = gzip.compress("".join(json.dumps({**TRACE, "trace_id": f"t{i}"}) + "\n" for i in range(2000)).encode())
    (tmp_path / "t.gz").write_bytes(whole[: len(whole) // 2])
    *events, fault = read_events(str(tmp_path / "t.gz"))
    ended = sum(isinstance(event, TraceEnd) for event in events)
    assert isinstance(fault, LineError) and "gzip" in fault.what and fault.line == ended + 1
    assert ended > 900


PACKED = gzip.compress(b"".join(b"%d %s\n" % (n, n.to_bytes(8).hex().encode() * 4) for n in range(5000)))


@pytest.mark.parametrize(
    ("content", "whole", "what"),
    [
        (PACKED + PACKED, 10_000, ""),
        (PACKED + b"\0" * 700, 5000, ""),
        (PACKED + b"garbage", 5000, "incorrect header"),
        (PACKED[:12], 0, "ends in the middle"),
        (PACKED[:-8] + b"\1" + PACKED[-7:], 4000, "incorrect data check"),
        (PACKED[:20_000] + b"\xff" * 50 + PACKED[20_050:], 1000, "damaged"),
    ],
    ids=["two members", "padded", "garbage behind", "cut in the header", "wrong sum", "overwritten"],
)
def test_what_comes_before_the_damage_is_read(tmp_path, content, whole, what):
    (tmp_path / "t.gz").write_bytes(content)
    lines = [line for _, line in read_lines(str(tmp_path / "t.gz"))]
    faults = [line.what for line in lines if isinstance(line, LineError)]
    assert len(lines) - len(faults) >= whole
    assert (what in faults[0] and lines[-1].what == faults[0]) if what else not faults


def test_half_a_surrogate_pair_and_a_byte_order_mark(tmp_path):
    line = json.dumps({"role": "user", "content": "x"})
    (tmp_path / "t.jsonl").write_text(f"{line}\n".replace("x", "\\ud800") + f"{line}\n")
    (fault,) = faults_of(str(tmp_path / "t.jsonl"))
    assert (fault.line, fault.what) == (1, "a text contains half of a surrogate pair")
    (tmp_path / "marked.jsonl").write_text(f"\ufeff{line}\n", encoding="utf-8")
    assert [
        event.trace_id for event in read_events(str(tmp_path / "marked.jsonl")) if isinstance(event, TraceBegin)
    ] == ["marked.jsonl"]


def test_an_endless_line_is_refused_without_keeping_it(tmp_path, monkeypatch):
    monkeypatch.setattr(lines_module, "MAX_LINE", 1000)
    (tmp_path / "t.jsonl").write_bytes(b'"' + b"x" * 5_000_000 + b'"\n' + json.dumps(TRACE).encode()[:900] + b"\n")
    faults = faults_of(str(tmp_path / "t.jsonl"))
    assert "longer than 32 MiB" in faults[0].what


@pytest.mark.parametrize("name", ["", "missing.jsonl"])
def test_a_directory_and_a_missing_file_are_one_clear_error(tmp_path, name):
    with pytest.raises(BadInput) as error:
        list(read_events(str(tmp_path / name)))
    assert str(tmp_path) in str(error.value)


@pytest.mark.parametrize(
    ("calls", "workspace"),
    [
        ([("bash", {"command": "cd /testbed/src && ls"}), ("edit", {"path": "/workspace/a.py"})], "/testbed"),
        ([("bash", {"command": "cd /home/me/shop/api && make"})], "/home/me/shop"),
        ([("edit", {"path": "/workspace/a.py"}), ("edit", {"path": "/workspace/django/b.py"})], "/workspace"),
        ([("edit", {"path": "/home/me/one/a.py"}), ("edit", {"path": "/home/me/two/b.py"})], "/home/me"),
        ([("edit", {"path": "/workspace/a.py"}), ("edit", {"path": "/etc/hosts"})], None),
        ([("bash", {"command": "ls src"}), ("edit", {"path": "src/a.py"})], None),
    ],
)
def test_the_workspace_of_a_trace_is_the_project_that_its_first_working_directory_is_in(calls, workspace):
    assert find_workspace(Tool(name, arguments) for name, arguments in calls) == workspace


def test_a_file_outside_the_workspace_of_a_trace_is_a_finding(tmp_path):
    steps = [
        {"role": "assistant", "tool": {"name": "bash", "arguments": {"command": "cd /work/shop && ls"}}},
        {"role": "tool", "content": "src"},
        {"role": "assistant", "tool": {"name": "bash", "arguments": {"command": "rm /srv/billing/cart.py"}}},
        {"role": "tool", "content": ""},
    ]
    name = write(tmp_path / "t", {"trace_id": "t", "task": "Fix the cart", "steps": steps})
    found = TraceScanner(Config()).process(read_events(name))[0]
    assert "scope_creep" in [issue.type for issue in found.issues]
