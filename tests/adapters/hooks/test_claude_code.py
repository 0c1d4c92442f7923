"""Claude Code's payloads and replies; the traps of its hooks, one by one."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.adapters.hooks.claude_code import MOMENTS, ClaudeCodeDialect
from interlock.core import PROCEED, Decision, Message, MessageMeta, Tool, Usage

DIALECT = ClaudeCodeDialect()
BASE = {"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/w"}
META = MessageMeta(intervention="soft_correction", issue="loop", time=0.0, run_id="r", step=1)
HINT = Message("Try another way.", meta=META)


def payload(event: str, **more: Any) -> dict[str, object]:
    return {**BASE, "hook_event_name": event, **more}


def before(**more: Any) -> dict[str, object]:
    return payload("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="c1", **more)


def reply(data: dict[str, object], decision: Decision) -> dict[str, object]:
    return DIALECT.reply(DIALECT.read(data), decision)


def test_a_call_is_read() -> None:
    event = DIALECT.read(before(agent_id="sub-1"))
    assert (event.moment, event.session, event.agent, event.transcript) == ("before", "s", "sub-1", "/t.jsonl")
    assert event.tool == Tool("Bash", {"command": "ls"}, "c1")


@pytest.mark.parametrize(
    ("response", "content"),
    [
        ({"stdout": "out", "stderr": "err", "interrupted": False}, "out\nerr"),
        ({"type": "text", "file": {"filePath": "/w/a", "content": "hello\n"}}, "hello\n"),
        ("plain", "plain"),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo"),
        ({"filenames": ["a"]}, '{"filenames":["a"]}'),
        (None, ""),
    ],
)
def test_results_of_every_shape_are_read(response: object, content: str) -> None:
    data = payload("PostToolUse", tool_name="X", tool_input={}, tool_use_id="c", tool_response=response, duration_ms=4)
    (outcome,) = DIALECT.read(data).outcomes
    assert (outcome.content, outcome.error, outcome.duration_ms) == (content, False, 4.0)


def test_a_failure_says_how_the_command_ended() -> None:
    data = payload("PostToolUseFailure", tool_name="Bash", tool_input={}, tool_use_id="c", error="Exit code 3\nno")
    (outcome,) = DIALECT.read(data).outcomes
    assert (outcome.error, outcome.exit_code, outcome.content) == (True, 3, "Exit code 3\nno")


def test_the_batch_has_every_call_of_the_turn() -> None:
    calls = [
        {"tool_name": "Read", "tool_input": {}, "tool_use_id": "c1", "tool_response": "1\thello"},
        {
            "tool_name": "Write",
            "tool_input": {"file_path": "x"},
            "tool_use_id": "c2",
            "tool_response": "<tool_use_error>File has not been read yet.</tool_use_error>",
        },
    ]
    event = DIALECT.read(payload("PostToolBatch", tool_calls=calls))
    assert event.moment == "batch"
    assert [(one.tool.call_id, one.error) for one in event.outcomes] == [("c1", False), ("c2", True)]


@pytest.mark.parametrize("junk", [{}, {"hook_event_name": 7}, {"hook_event_name": "PreToolUse", "tool_input": "x"}])
def test_junk_is_read_as_what_can_be_read_of_it(junk: dict[str, object]) -> None:
    event = DIALECT.read(junk)
    assert event.session == ""


def test_a_call_that_may_run_is_left_to_the_users_own_permissions() -> None:
    assert reply(before(), PROCEED) == {}
    said = reply(before(), Decision(messages=(HINT,)))
    assert said == {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "Try another way."}}


def test_a_denial_says_why() -> None:
    said: Any = reply(before(), Decision("deny", (HINT,), reason="It deletes a folder."))["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert said["permissionDecisionReason"] == "It deletes a folder.\n\nTry another way."


def test_a_stop_before_a_call_denies_it_too_for_continue_alone_would_let_it_run() -> None:
    said: Any = reply(before(), Decision("stop", reason="over"))
    assert said["continue"] is False
    assert said["stopReason"] == "over"
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_stop_is_said_again_with_the_batch_for_older_versions_carry_on_after_the_denial() -> None:
    said = reply(payload("PostToolBatch", tool_calls=[]), Decision("stop", reason="over"))
    assert said == {"continue": False, "stopReason": "over"}


def test_the_batch_is_never_answered_with_block_for_that_ends_the_run() -> None:
    said = reply(payload("PostToolBatch", tool_calls=[]), Decision(messages=(HINT,)))
    assert "decision" not in said
    assert said["hookSpecificOutput"] == {"hookEventName": "PostToolBatch", "additionalContext": "Try another way."}


def test_the_end_of_a_turn_is_never_held_up() -> None:
    for event in ("Stop", "SubagentStop", "SessionEnd"):
        assert reply(payload(event), Decision("stop", (HINT,), reason="over")) == {}


def test_a_call_can_be_put_off_and_rewritten() -> None:
    put_off: Any = reply(before(), Decision("defer", reason="later"))["hookSpecificOutput"]
    assert put_off["permissionDecision"] == "defer"
    other: Any = reply(before(), Decision("rewrite", arguments={"command": "ls -a"}, reason="safer"))
    assert other["hookSpecificOutput"]["updatedInput"] == {"command": "ls -a"}
    assert "permissionDecision" not in other["hookSpecificOutput"]


def test_settings_that_are_refused_are_blocked() -> None:
    data = payload("ConfigChange", source="project_settings", file_path="/w/.claude/settings.json")
    assert DIALECT.read(data).path == "/w/.claude/settings.json"
    assert reply(data, Decision("deny", reason="no")) == {"decision": "block", "reason": "no"}
    assert reply(data, PROCEED) == {}


def test_the_transcript_gives_words_spend_and_results() -> None:
    line = (
        b'{"type":"assistant","sessionId":"s","message":{"id":"m1","role":"assistant","model":"opus","content":'
        b'[{"type":"text","text":"I look."},{"type":"tool_use","id":"c1","name":"Bash","input":{}}],'
        b'"usage":{"input_tokens":5,"cache_read_input_tokens":10,"output_tokens":7}}}'
    )
    said = DIALECT.hear(line)
    assert said is not None
    assert (said.key, said.text, said.model) == ("m1", "I look.", "opus")
    assert said.usage == Usage(input_tokens=15, output_tokens=7, cache_read_tokens=10)
    result = b'{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1"}]}}'
    assert getattr(DIALECT.hear(result), "results", None) == ("c1",)
    assert DIALECT.hear(b'{"type":"summary"}') is None
    assert DIALECT.hear(b"not json") is None


def test_every_event_that_is_hooked_has_a_moment() -> None:
    assert {"PreToolUse", "PostToolBatch", "ConfigChange", "SessionEnd"} <= set(MOMENTS)
