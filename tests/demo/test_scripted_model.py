"""The scripted model speaks four formats, streamed and whole, and remembers what it was asked."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

import pytest

from interlock.demo.model import ScriptedModel, ScriptedTurn, run, turns

SHELL = {"type": "object", "properties": {"command": {"type": "string"}}}
PATHS = {
    "anthropic": "/v1/messages",
    "responses": "/v1/responses",
    "chat": "/v1/chat/completions",
    "gemini": "/v1beta/models/gemini-2.5-pro:generateContent",
}
STREAMED = {"gemini": "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"}


def body_of(
    api: str, *, stream: bool = False, tool: str = "bash", more: tuple[dict[str, Any], ...] = ()
) -> dict[str, Any]:
    said = {"role": "user", "content": "go"}
    if api == "anthropic":
        return {
            "model": "m",
            "stream": stream,
            "messages": [said, *more],
            "tools": [{"name": tool, "input_schema": SHELL}],
        }
    if api == "responses":
        return {
            "model": "m",
            "stream": stream,
            "input": [said, *more],
            "tools": [{"type": "function", "name": tool, "parameters": SHELL}],
        }
    if api == "chat":
        return {
            "model": "m",
            "stream": stream,
            "messages": [said, *more],
            "tools": [{"type": "function", "function": {"name": tool, "parameters": SHELL}}],
        }
    return {
        "contents": [{"role": "user", "parts": [{"text": "go"}]}, *more],
        "tools": [{"functionDeclarations": [{"name": tool, "parameters": SHELL}]}],
    }


def post(model: ScriptedModel, path: str, body: dict[str, Any]) -> bytes:
    request = urllib.request.Request(
        model.url + path, json.dumps(body).encode(), {"content-type": "application/json", "x-api-key": "sk-secret"}
    )
    with urllib.request.urlopen(request, timeout=150) as answer:
        data: bytes = answer.read()
        return data


@pytest.mark.parametrize("api", list(PATHS))
def test_every_format_answers_whole_and_streamed_alike(api: str) -> None:
    with ScriptedModel(turns(run("echo a rather long command, so that it comes in pieces"))) as model:
        whole = post(model, PATHS[api], body_of(api))
        streamed = post(model, STREAMED.get(api, PATHS[api]), body_of(api, stream=True))
    assert b"so that it comes in pieces" in whole
    assert streamed.startswith((b"event: ", b"data: "))
    events = [
        json.loads(line[6:])
        for line in streamed.decode().splitlines()
        if line.startswith("data: ") and "[DONE]" not in line
    ]
    assert len(events) >= 1
    assert [request.api for request in model.asked] == [api, api]


def test_neutral_calls_take_the_name_of_the_shell_that_the_client_has() -> None:
    with ScriptedModel("destructive") as model:
        answer = json.loads(post(model, PATHS["anthropic"], body_of("anthropic", tool="run_shell_command")))
    assert answer["content"][-1]["name"] == "run_shell_command"
    assert answer["content"][-1]["input"] == {"command": "echo one > one.txt"}


def test_a_turn_follows_from_the_conversation_so_that_a_retry_does_no_harm() -> None:
    more = ({"role": "assistant", "content": "one"}, {"role": "user", "content": "on"})
    with ScriptedModel(turns("first", run("true"))) as model:
        first = [post(model, PATHS["chat"], body_of("chat")) for _ in range(2)]
        second = post(model, PATHS["chat"], body_of("chat", more=more))
    assert all(b"first" in answer for answer in first)
    assert b"true" in second


def test_the_mark_in_the_prompt_chooses_the_script() -> None:
    scripts = {"a": turns("from a"), "b": turns("from b")}
    body = body_of("chat", more=({"role": "user", "content": "[[script:b]]"},))
    with ScriptedModel(scripts) as model:
        assert b"from b" in post(model, PATHS["chat"], body)


def test_requests_are_kept_without_keys() -> None:
    with ScriptedModel("healthy") as model:
        post(model, PATHS["chat"], body_of("chat"))
    assert "sk-secret" not in repr(model.requests)
    assert model.requests[0].headers["x-api-key"] == "(9 characters)"


def test_a_function_may_answer() -> None:
    with ScriptedModel(lambda request: ScriptedTurn(text=f"you asked {request.model}")) as model:
        assert b"you asked m" in post(model, PATHS["responses"], body_of("responses"))


def test_an_error_status_is_what_the_client_gets() -> None:
    with ScriptedModel("overloaded") as model, pytest.raises(urllib.error.HTTPError) as error:
        post(model, PATHS["anthropic"], body_of("anthropic"))
    assert error.value.code == 529


def test_an_unknown_script_is_named_with_those_that_exist() -> None:
    with pytest.raises(ValueError, match="there are: aider, destructive, healthy"):
        ScriptedModel("nonsense")


def test_it_runs_as_a_program_that_imports_nothing_but_the_standard_library() -> None:
    program = (
        "import sys, interlock.demo.model as m\n"
        "with m.ScriptedModel('talk') as model: print(model.url)\n"
        "print([name for name in ('msgspec', 'yaml', 'apsw', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=150, check=True)
    assert done.stdout.splitlines()[1] == "[]"
