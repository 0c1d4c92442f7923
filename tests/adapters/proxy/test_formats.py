"""Every wire format, streamed and whole: unharmed, observed, corrected, denied, switched, held and stopped."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from interlock.core import Decision, Hold, Message
from interlock.demo.model import ModelRequest, ScriptedTurn, Tokens, run

from ...e2e.running import until
from .conftest import SupervisedRun

APIS = ("anthropic", "chat", "responses", "gemini")
every_format = pytest.mark.parametrize("api", APIS)
both_ways = pytest.mark.parametrize("stream", (True, False), ids=("streamed", "whole"))
Make = Callable[..., SupervisedRun]


def fixed(request: ModelRequest) -> ScriptedTurn:
    """Says the same to the same request."""
    return ScriptedTurn("I look.", (run("ls"),)) if request.turn == 0 else ScriptedTurn("Done.")


@every_format
@both_ways
def test_a_healthy_task_goes_through_and_is_observed(supervised_with: Make, api: str, stream: bool) -> None:
    supervised = supervised_with("healthy")
    assert supervised.agent(api, stream=stream).run("Please do it.") == "All finished."
    kinds = [(step["role"], step.get("kind", "message")) for step in supervised.steps()]
    calls = [step["tool"]["arguments"]["command"] for step in supervised.steps() if step.get("kind") == "tool_call"]
    assert calls == supervised.ran and len(calls) == 3
    assert kinds.count(("tool", "tool_result")) == 3
    assert kinds[0] == ("user", "message")
    assert supervised.records("issue", "intervention", "fault") == []


@every_format
@both_ways
def test_answers_come_through_byte_for_byte(supervised_with: Make, api: str, stream: bool) -> None:
    supervised = supervised_with(fixed)
    agent = supervised.agent(api, stream=stream)
    agent.run("go")
    # The model makes ids anew for each answer: what it sent is compared with what arrived, one for one.
    assert agent.answers == supervised.model.sent


@every_format
@both_ways
def test_tokens_are_counted_with_those_from_the_cache(supervised_with: Make, api: str, stream: bool) -> None:
    supervised = supervised_with([ScriptedTurn("Hello.", tokens=Tokens(input=1000, output=50, cache_read=600))])
    supervised.agent(api, stream=stream).run("go")
    (step,) = [step for step in supervised.steps() if step.get("usage")]
    assert step["usage"] == {"input_tokens": 1000, "output_tokens": 50, "cache_read_tokens": 600}
    assert (step["model"], step["content"]) == ("m-1", "Hello.")
    assert supervised.supervisor.run.summary.tokens == 1050


@every_format
@both_ways
def test_a_loop_gets_a_correction_that_every_later_request_contains_at_the_same_place(
    supervised_with: Make, api: str, stream: bool
) -> None:
    supervised = supervised_with("loop")
    supervised.outputs["cat missing.txt"] = "cat: missing.txt: No such file or directory\nexit code 1"
    supervised.agent(api, stream=stream).run("Find it.", turns=6)
    (first, *_) = [record["directive"]["message"]["content"] for record in supervised.records("applied")]
    asked = supervised.model.asked
    having = [number for number, request in enumerate(asked) if first.splitlines()[0] in request.text]
    assert having and having == list(range(having[0], len(asked))), "from its first request on, always"
    at = [next(i for i, item in enumerate(asked[n].history) if first.splitlines()[0] in str(item)) for n in having]
    assert len(set(at)) == 1, "at the same place"
    assert first.splitlines()[0] not in str(supervised.model.asked[having[0] - 1].history)


@every_format
@both_ways
def test_a_destructive_call_never_reaches_the_client_and_the_model_is_told(
    supervised_with: Make, api: str, stream: bool
) -> None:
    supervised = supervised_with("destructive")
    agent = supervised.agent(api, stream=stream)
    assert agent.run("Please do it.") == "Finished."
    assert supervised.ran == ["echo one > one.txt", "cat one.txt"]
    assert b"rm -rf" not in b"".join(agent.answers)
    again = supervised.model.asked[2]
    assert "rm -rf ~/victim" in again.text and "Interlock blocked this call" in again.text
    # What was denied stays in the conversation, before what came of it.
    assert "rm -rf ~/victim" in supervised.model.asked[-1].text
    denied = [record for record in supervised.records("step") if (record.get("decision") or {}).get("action") == "deny"]
    assert len(denied) == 1


@every_format
@both_ways
def test_of_two_calls_only_the_dangerous_one_is_taken_out(supervised_with: Make, api: str, stream: bool) -> None:
    supervised = supervised_with(
        [ScriptedTurn("Both.", (run("rm -rf ~/victim"), run("echo fine"))), ScriptedTurn("Done.")]
    )
    assert supervised.agent(api, stream=stream).run("go") == "Done."
    assert supervised.ran == ["echo fine"]
    assert "was blocked" in supervised.model.asked[-1].text


@every_format
@both_ways
def test_an_agent_that_wants_nothing_else_has_its_turn_ended(supervised_with: Make, api: str, stream: bool) -> None:
    supervised = supervised_with(lambda request: ScriptedTurn(calls=(run(f"rm -rf ~/victim/{request.turn}"),)))
    said = supervised.agent(api, stream=stream).run("go")
    assert "Interlock ended the run" in said
    assert supervised.ran == []


@every_format
@both_ways
def test_the_model_is_switched_from_the_next_request_on(supervised_with: Make, api: str, stream: bool) -> None:
    supervised = supervised_with(fixed)
    agent = supervised.agent(api, stream=stream)
    agent.runner = lambda name, arguments: setattr(supervised.adapter.choice, "model", "m-2") or "ok"
    agent.run("go")
    assert [request.model for request in supervised.model.asked] == ["m-1", "m-2"]


@every_format
def test_side_calls_are_left_alone_and_counted(supervised_with: Make, api: str) -> None:
    supervised = supervised_with("healthy")
    supervised.agent(api).run("go", turns=1)
    supervised.proxy.memory.keep((Message("a correction"),))
    supervised.adapter.choice.model = "m-2"
    side = supervised.agent(api, tools=False)
    before = supervised.supervisor.run.summary.tokens
    side.history.append(side._user("Give this a title."))
    wanted = json.loads(json.dumps(side.body()))
    assert side.ask()[0] == "ok"
    assert supervised.model.requests[-1].body == wanted
    assert supervised.model.requests[-1].model == "m-1"
    # It is counted when the client has its answer already.
    until("the side call is counted", lambda: supervised.supervisor.run.summary.tokens > before)


@every_format
@both_ways
def test_a_paused_run_holds_the_next_request_until_it_is_resumed(supervised_with: Make, api: str, stream: bool) -> None:
    supervised = supervised_with(fixed)
    agent = supervised.agent(api, stream=stream)
    held, told = threading.Event(), []

    def pause(name: str, arguments: dict[str, Any]) -> str:
        supervised.supervisor.run.steering.pause(Hold("look"), 0)  # type: ignore[union-attr]
        held.set()
        return "ok"

    agent.runner = pause
    thread = threading.Thread(target=lambda: told.append(agent.run("go")))
    thread.start()
    assert held.wait(150)
    # It is let go only by the resume, however long that takes: nothing reaches the model before.
    while supervised.supervisor.run.gate.status != "paused":
        threading.Event().wait(0.01)
    assert len(supervised.model.requests) == 1
    supervised.supervisor.resume()
    thread.join(150)
    assert told == ["Done."]


@every_format
@both_ways
def test_a_stopped_run_gets_an_answer_that_ends_its_turn(supervised_with: Make, api: str, stream: bool) -> None:
    supervised = supervised_with(fixed)
    agent = supervised.agent(api, stream=stream)
    agent.runner = lambda name, arguments: supervised.supervisor.run.end("aborted", "USER_CANCELLED", "enough") or "ok"
    said = agent.run("go")
    assert said == "Interlock ended the run: enough"
    assert len(supervised.model.requests) == 1


@every_format
@both_ways
def test_a_call_is_rewritten_where_a_safe_form_is_known(supervised_with: Make, api: str, stream: bool) -> None:
    supervised = supervised_with([ScriptedTurn("Off.", (run("ls"), run("pwd"))), ScriptedTurn("Done.")])
    ask = supervised.supervisor.before

    def before(step: Any) -> Any:
        decision = ask(step)
        wanted = step.tool.arguments["command"]
        return Decision("rewrite", arguments={"command": "ls -la"}) if wanted == "ls" else decision

    supervised.supervisor.before = before  # type: ignore[method-assign]
    supervised.agent(api, stream=stream).run("go")
    assert supervised.ran == ["ls -la", "pwd"]


def test_calls_of_gemini_without_ids_find_their_results(supervised_with: Make) -> None:
    supervised = supervised_with("healthy")
    agent = supervised.agent("gemini")
    results = agent._results

    def without_ids(done: Any) -> Any:
        (item,) = results(done)
        for part in item["parts"]:
            del part["functionResponse"]["id"]
        return [item]

    agent._results = without_ids  # type: ignore[method-assign]
    agent.run("go")
    assert [step.get("kind") for step in supervised.steps()].count("tool_result") == 3
