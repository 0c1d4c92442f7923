"""Codex, Gemini CLI and opencode: what differs from Claude Code."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.adapters.hooks.claude_code import ClaudeCodeDialect
from interlock.adapters.hooks.codex import CodexDialect, label, trust_hash
from interlock.adapters.hooks.gemini import GeminiDialect
from interlock.adapters.hooks.opencode import OpencodeDialect
from interlock.core import PROCEED, Decision, Usage

from .test_claude_code import HINT, before, payload


def test_codex_is_not_told_to_stop_at_a_call_for_it_would_not() -> None:
    codex = CodexDialect()
    said: Any = codex.reply(codex.read(before()), Decision("stop", reason="over"))
    assert set(said) == {"hookSpecificOutput"}
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert codex.reply(codex.read(payload("UserPromptSubmit", prompt="x")), Decision("stop", reason="over")) == {
        "continue": False,
        "stopReason": "over",
    }


def test_codex_takes_other_arguments_only_with_leave_to_run() -> None:
    codex = CodexDialect()
    said: Any = codex.reply(codex.read(before()), Decision("rewrite", arguments={"command": "ls"}))
    assert said["hookSpecificOutput"]["permissionDecision"] == "allow"
    assert codex.reply(codex.read(before()), PROCEED) == {}


def test_whether_a_call_of_codex_failed_is_not_known_from_the_event() -> None:
    failed = "FAIL: test_total\nAssertionError: 5 != 6\nFAILED (failures=1)"
    (outcome,) = CodexDialect().read(payload("PostToolUse", tool_name="Bash", tool_response=failed)).outcomes
    assert (outcome.content, outcome.error, outcome.exit_code) == (failed, None, None)


def test_codex_rollouts_give_words_and_spend() -> None:
    codex = CodexDialect()
    spent = codex.hear(
        b'{"type":"token_usage_record","payload":{"response_id":"r1","usage":{"input_tokens":9,"cached_input_tokens":4,'
        b'"output_tokens":2}}}'
    )
    assert spent is not None
    assert (spent.key, spent.usage) == ("r1", Usage(input_tokens=9, output_tokens=2, cache_read_tokens=4))
    said = codex.hear(
        b'{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}}'
    )
    assert said is not None
    assert said.text == "Hi"
    assert codex.hear(b'{"type":"event_msg","payload":{"type":"token_count"}}') is None


def test_codex_hooks_are_trusted_by_the_hash_that_codex_computes() -> None:
    assert label("PreToolUse") == "pre_tool_use"
    # As `hooks/list` of codex 0.166.0 gave it for this very hook.
    assert trust_hash("PreToolUse", "/tmp/hk/hookcli /tmp/hk/r/h.sock", 60) == (
        "sha256:966291da847bc29b8e0ecf77af370e1a2b9bdb07a621196f7c914614b43aafc9"
    )


def tool(event: str, time: str, command: str = "ls", **more: Any) -> dict[str, object]:
    return payload(event, timestamp=time, tool_name="run_shell_command", tool_input={"command": command}, **more)


def test_gemini_calls_get_an_id_by_which_their_results_are_found() -> None:
    gemini = GeminiDialect()
    first = gemini.read(tool("BeforeTool", "1"))
    again = gemini.read(tool("BeforeTool", "1"))
    second = gemini.read(tool("BeforeTool", "2"))
    assert first.tool is not None and again.tool is not None and second.tool is not None
    assert first.tool.call_id == again.tool.call_id != second.tool.call_id
    done = [gemini.read(tool("AfterTool", time, tool_response={"llmContent": "x"})) for time in ("3", "3", "4")]
    ids = [event.outcomes[0].tool.call_id for event in done]
    assert ids == [first.tool.call_id, first.tool.call_id, second.tool.call_id]


def test_gemini_is_refused_rewritten_stopped_and_told() -> None:
    gemini = GeminiDialect()
    call = gemini.read(tool("BeforeTool", "1"))
    assert gemini.reply(call, Decision("deny", reason="no")) == {"decision": "deny", "reason": "no"}
    assert gemini.reply(call, Decision("stop", reason="over"))["continue"] is False
    rewritten: Any = gemini.reply(call, Decision("rewrite", arguments={"command": "ls -a"}))
    assert rewritten["hookSpecificOutput"]["tool_input"] == {"command": "ls -a"}
    result = gemini.read(tool("AfterTool", "2", tool_response={"llmContent": "x"}))
    told: Any = gemini.reply(result, Decision(messages=(HINT,)))
    assert told["hookSpecificOutput"]["additionalContext"] == "Try another way."
    assert not gemini.carries(call)


def test_gemini_goes_on_with_another_model() -> None:
    gemini = GeminiDialect()
    event = gemini.read(payload("BeforeModel", llm_request={"model": "gemini-2.5-flash"}))
    assert event.model == "gemini-2.5-flash"
    said: Any = gemini.reply(event, Decision(model="gemini-2.5-pro"))
    assert said["hookSpecificOutput"]["llm_request"] == {"model": "gemini-2.5-pro"}
    assert gemini.reply(event, PROCEED) == {}


def test_gemini_failures_are_known_by_what_they_say() -> None:
    gemini = GeminiDialect()
    failed = gemini.read(tool("AfterTool", "1", tool_response={"llmContent": "Output: no\nExit Code: 2"}))
    assert (failed.outcomes[0].error, failed.outcomes[0].exit_code) == (True, 2)
    broken = gemini.read(tool("AfterTool", "2", tool_response={"llmContent": "x", "error": {"message": "y"}}))
    assert broken.outcomes[0].error is True


def test_opencode_speaks_our_own_words() -> None:
    opencode = OpencodeDialect()
    data = {"hook_event_name": "tool.execute.before", "session": "a", "root": "a", "tool": "bash", "call": "c"}
    call = opencode.read({**data, "arguments": {"command": "ls"}})
    assert (call.moment, call.session, call.agent) == ("before", "a", None)
    assert opencode.reply(call, Decision("deny", reason="no")) == {"action": "deny", "reason": "no"}
    assert opencode.reply(call, Decision("rewrite", arguments={"x": 1})) == {"action": "rewrite", "arguments": {"x": 1}}
    child = opencode.read({**data, "session": "b"})
    assert (child.session, child.agent) == ("a", "b")
    result = opencode.read({**data, "hook_event_name": "tool.execute.after", "output": "no", "exit": 1})
    assert (result.outcomes[0].error, result.outcomes[0].exit_code) == (True, 1)
    assert opencode.reply(result, Decision(messages=(HINT,))) == {"action": "proceed", "text": "Try another way."}


def test_opencode_tells_its_tokens() -> None:
    tokens = {"input": 5, "output": 2, "reasoning": 1, "cache": {"read": 10, "write": 3}}
    event = OpencodeDialect().read({"hook_event_name": "step.finished", "session": "a", "tokens": tokens})
    assert event.usage == Usage(input_tokens=18, output_tokens=3, cache_read_tokens=10, cache_write_tokens=3)


LOOP = "FAILED tests/test_a.py::test_total - assert 5 == 6"


def claude(number: int) -> str:
    reminder = f"<system-reminder>\nTodo list of turn {number}.\nDo not mention it.\n</system-reminder>"
    response = {"stdout": f"{LOOP}\n\n{reminder}", "stderr": ""}
    return read(ClaudeCodeDialect(), payload("PostToolUse", tool_name="Bash", tool_response=response))


def codex(number: int) -> str:
    head = f"Chunk ID: {number:06x}\nWall time: 0.0{number} seconds\nProcess exited with code 1\nOriginal token count: 2{number}"
    return read(CodexDialect(), payload("PostToolUse", tool_name="Bash", tool_response=f"{head}\nOutput:\n{LOOP}"))


def gemini(number: int) -> str:
    said = f"Output: {LOOP}\nExit Code: 1\nBackground PIDs: {number}, {number + 1}\nProcess Group PGID: {number}"
    event = {
        "hook_event_name": "AfterTool",
        "session_id": "s",
        "timestamp": str(number),
        "tool_name": "run_shell_command",
    }
    return read(GeminiDialect(), {**event, "tool_input": {"command": "pytest"}, "tool_response": {"llmContent": said}})


def opencode(number: int) -> str:
    said = f"{LOOP}\n\n(Output was truncated. Full output saved to: /tmp/opencode/tool-output/{number}.txt)"
    event = {"hook_event_name": "tool.execute.after", "session": "s", "tool": "bash", "call": str(number), "exit": 1}
    return read(OpencodeDialect(), {**event, "arguments": {"command": "pytest"}, "output": said})


def read(dialect: Any, payload: dict[str, Any]) -> str:
    (outcome,) = dialect.read(payload).outcomes
    return str(outcome.content)


@pytest.mark.parametrize("client", [claude, codex, gemini, opencode])
def test_what_a_client_adds_to_each_result_is_not_part_of_it(client: Any) -> None:
    assert client(1) == client(2)
    assert LOOP in client(1)


def test_the_exit_status_that_codex_and_gemini_add_is_kept() -> None:
    said = "Chunk ID: 00a1b2\nWall time: 0.05 seconds\nProcess exited with code 101\nOutput:\nerror[E0308]"
    (outcome,) = CodexDialect().read(payload("PostToolUse", tool_name="Bash", tool_response=said)).outcomes
    assert (outcome.exit_code, outcome.content) == (101, "Process exited with code 101\nOutput:\nerror[E0308]")
