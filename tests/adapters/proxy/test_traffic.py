"""What the proxy does to traffic that is broken, large, compressed, not for it, or none of its business."""

from __future__ import annotations

import gzip
import http.client
import json
import logging
import socket
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
import zstandard

from interlock.adapters.proxy import Proxied
from interlock.config import Config
from interlock.config.schema import Interventions, Runtime
from interlock.core import Hold, Message, SwitchModel
from interlock.demo.model import ModelRequest, ScriptedTurn, Tokens, run, turns

from ...e2e.running import until
from .agent import KEY
from .conftest import TOKEN, SupervisedRun

Make = Callable[..., SupervisedRun]


def raw(
    supervised: SupervisedRun, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    """One request as it is, without an agent around it."""
    connection = http.client.HTTPConnection(urlsplit(supervised.url("anthropic")).netloc, timeout=150)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, {key.lower(): value for key, value in answer.getheaders()}, data


def test_keys_reach_the_model_and_are_kept_nowhere(supervised_with: Make, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    supervised = supervised_with("healthy")
    supervised.agent("anthropic", stream=True).run("go")
    assert supervised.model.requests[0].headers["x-api-key"] == f"({len(KEY)} characters)"
    assert supervised.model.requests[0].headers["authorization"] == f"({len(KEY) + 7} characters)"
    assert KEY.encode() not in supervised.journal_bytes()
    assert KEY not in caplog.text


def test_an_error_of_the_model_comes_through_unchanged(supervised_with: Make) -> None:
    supervised = supervised_with("overloaded")
    agent = supervised.agent("anthropic", stream=True)
    with pytest.raises(RuntimeError, match="529"):
        agent.run("go")
    assert agent.answers == supervised.model.sent
    assert agent.last_headers["request-id"] == "req_scripted"


def test_a_model_that_cannot_be_reached_is_said_to_be_so(supervised_with: Make) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        free = nobody.getsockname()[1]
    supervised = supervised_with("healthy", upstream=f"http://127.0.0.1:{free}")
    with pytest.raises(RuntimeError, match=r"502 .*127\.0\.0\.1 cannot be reached"):
        supervised.agent("anthropic").run("go")
    assert supervised.supervisor.run.gate.inside == 0


@pytest.mark.parametrize("api", ["anthropic", "chat", "responses"])
def test_an_answer_that_breaks_off_breaks_off_for_the_client_too(supervised_with: Make, api: str) -> None:
    supervised = supervised_with([ScriptedTurn("Some words that are never finished.", (run("ls"),), cut=True)])
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        supervised.agent(api, stream=True).run("go")
    assert supervised.ran == []
    until("nothing is under way", lambda: supervised.supervisor.run.gate.inside == 0)


def test_a_request_of_ten_megabytes_goes_through_whole(supervised_with: Make) -> None:
    supervised = supervised_with(turns("Done."))
    agent = supervised.agent("anthropic", stream=True)
    words = "0123456789abcdef" * 655_360
    assert agent.run(words) == "Done."
    assert supervised.model.requests[0].body["messages"][0]["content"] == words


def test_an_unchanged_request_is_handed_on_as_the_very_same_bytes(supervised_with: Make) -> None:
    supervised = supervised_with("healthy")
    body = json.dumps(
        {"max_tokens": 5, "model": "m", "tools": [], "messages": [{"role": "user", "content": "h\u00e9  "}]}, indent=3
    )
    raw(supervised, "POST", f"/{TOKEN}/anthropic/v1/messages", body.encode(), {"content-type": "application/json"})
    assert supervised.model.requests[0].raw == body.encode()


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_compressed_request_is_read_and_may_be_changed(supervised_with: Make, encoding: str) -> None:
    supervised = supervised_with("healthy")
    supervised.adapter.apply(SwitchModel("m-2"))
    agent = supervised.agent("responses")
    agent.history.append(agent._user("go"))
    plain = json.dumps(agent.body()).encode()
    packed = gzip.compress(plain) if encoding == "gzip" else zstandard.ZstdCompressor().compress(plain)
    status, _, answer = raw(supervised, "POST", f"/{TOKEN}/openai/responses", packed, {"content-encoding": encoding})
    assert (status, supervised.model.requests[0].model) == (200, "m-2")
    assert b"function_call" in answer
    assert [step["kind"] for step in supervised.steps() if step.get("kind")] == ["tool_call"]


def test_what_is_no_conversation_passes_as_it_is(supervised_with: Make) -> None:
    supervised = supervised_with("healthy")
    status, headers, body = raw(supervised, "GET", f"/{TOKEN}/openai/models?limit=3")
    assert (status, headers["content-type"]) == (200, "application/json")
    assert json.loads(body)["data"][0]["id"] == "scripted"
    assert supervised.model.requests[0].path == "/v1/models?limit=3"
    assert raw(supervised, "HEAD", f"/{TOKEN}/anthropic/")[0] == 200
    assert raw(supervised, "POST", f"/{TOKEN}/anthropic/v1/messages/count_tokens", b"{}")[0] == 200
    assert supervised.steps() == []


@pytest.mark.parametrize("path", ["/v1/messages", "/wrong/anthropic/v1/messages", f"/{TOKEN}/nobody/v1/messages", "/"])
def test_who_does_not_know_the_token_gets_nowhere(supervised_with: Make, path: str) -> None:
    supervised = supervised_with("healthy")
    assert raw(supervised, "POST", path, b"{}")[0] == 404
    assert supervised.model.requests == []


def test_a_body_that_is_not_understood_is_handed_on_and_noted(supervised_with: Make) -> None:
    supervised = supervised_with("healthy")
    status, _, answer = raw(supervised, "POST", f"/{TOKEN}/anthropic/v1/messages", b"{not json")
    assert (status, b"not JSON" in answer) == (400, True)
    assert len(supervised.records("fault")) == 1


def test_trouble_of_our_own_lets_the_traffic_through(supervised_with: Make) -> None:
    supervised = supervised_with("healthy")

    def broken(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    supervised.proxy.memory.apply = broken  # type: ignore[assignment,method-assign]
    supervised.proxy.numbering.before = broken  # type: ignore[assignment,method-assign]
    assert supervised.agent("anthropic", stream=True).run("go") == "All finished."
    assert {one["why"] for one in supervised.records("fault")} == {"RuntimeError: a fault of ours"}


def test_trouble_of_our_own_ends_the_turn_where_it_is_to_fail_closed(supervised_with: Make) -> None:
    supervised = supervised_with("healthy", config=Config(runtime=Runtime(fail="closed")))

    def broken(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    supervised.proxy.numbering.before = broken  # type: ignore[assignment,method-assign]
    assert "fail closed" in supervised.agent("anthropic", stream=True).run("go")
    assert supervised.ran == []


def test_observing_never_keeps_an_answer_back(supervised_with: Make) -> None:
    supervised = supervised_with("destructive", config=Config(interventions=Interventions(observe=True)))
    agent = supervised.agent("anthropic", stream=True)
    agent.run("go")
    assert agent.answers == supervised.model.sent
    assert "rm -rf ~/victim" in supervised.ran
    assert "destructive_action" in [issue["type"] for issue in supervised.records("issue")]


def test_where_hooks_tell_the_steps_the_proxy_counts_injects_and_switches(supervised_with: Make) -> None:
    supervised = supervised_with("destructive", steps=False)
    agent = supervised.agent("anthropic", stream=True)
    supervised.proxy.memory.keep((Message("words from a hook"),))
    supervised.adapter.apply(SwitchModel("m-2"))
    agent.run("go")
    assert agent.answers == supervised.model.sent
    assert {step["kind"] for step in supervised.steps()} == {"usage"}
    assert all("words from a hook" in request.text and request.model == "m-2" for request in supervised.model.asked)


def test_an_agent_that_declares_no_tools_is_supervised_in_words(supervised_with: Make) -> None:
    supervised = supervised_with(lambda request: ScriptedTurn(f"Words {request.turn}.", tokens=Tokens(100, 10)))
    agent = supervised.agent("chat", tools=False, stream=True)
    agent.run("Edit the file.")
    supervised.proxy.memory.keep((Message("a correction"),))
    agent.run("And now?")
    assert "a correction" in supervised.model.requests[-1].text
    until("both are counted", lambda: supervised.supervisor.run.summary.tokens == 220)


def test_a_client_that_did_not_ask_for_tokens_is_not_told_them(supervised_with: Make) -> None:
    supervised = supervised_with([ScriptedTurn("Hello.", (run("ls"),), tokens=Tokens(700, 50)), ScriptedTurn("Done.")])
    agent = supervised.agent("chat", stream=True)
    body = agent.body
    agent.body = lambda: {key: value for key, value in body().items() if key != "stream_options"}  # type: ignore[method-assign]
    assert agent.run("go") == "Done."
    assert supervised.model.requests[0].body["stream_options"] == {"include_usage": True}
    assert b'"usage"' in supervised.model.sent[0] and b'"usage"' not in agent.answers[0]
    # Nothing else is missing.
    events = supervised.model.sent[0].split(b"\n\n")
    assert agent.answers[0] == b"\n\n".join(one for one in events if b'"usage"' not in one)
    assert next(step["usage"]["input_tokens"] for step in supervised.steps() if "usage" in step) == 700


def test_a_client_that_hangs_up_while_it_is_held_is_not_asked_for(supervised_with: Make) -> None:
    supervised = supervised_with("healthy")
    steering = supervised.supervisor.run.steering
    assert steering is not None
    steering.pause(Hold("look"), 0)
    agent = supervised.agent("anthropic")
    agent.history.append(agent._user("go"))
    parts = urlsplit(agent.base + agent._path())
    with socket.create_connection((parts.hostname, parts.port)) as sock:
        body = json.dumps(agent.body()).encode()
        sock.sendall(
            b"POST %b HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % (parts.path.encode(), len(body)) + body
        )
        until(
            "it is held", lambda: any(thread.name == "interlock-proxy-connection" for thread in threading.enumerate())
        )
    until(
        "it is gone", lambda: not any(thread.name == "interlock-proxy-connection" for thread in threading.enumerate())
    )
    supervised.supervisor.resume()
    assert supervised.model.requests == []


def test_one_connection_carries_many_requests(supervised_with: Make) -> None:
    supervised = supervised_with(turns("Done."))
    connection = http.client.HTTPConnection(urlsplit(supervised.url("anthropic")).netloc, timeout=150)
    agent = supervised.agent("anthropic")
    agent.history.append(agent._user("go"))
    for _ in range(3):
        connection.request("POST", f"/{TOKEN}/anthropic/v1/messages", json.dumps(agent.body()).encode())
        assert b"Done." in connection.getresponse().read()
    connection.close()


def test_twenty_agents_at_once(supervised_with: Make) -> None:
    def answer(request: ModelRequest) -> ScriptedTurn:
        number = str(request.history[0]["content"])
        return (
            ScriptedTurn(calls=(run(f"cat src/{number}/{request.turn}.py"),))
            if request.turn < 5
            else ScriptedTurn("Finished.")
        )

    supervised = supervised_with(answer, config=Config(interventions=Interventions(enabled=False)))
    said: list[Any] = []

    def work(number: int) -> None:
        agent = supervised.agent(("anthropic", "chat")[number % 2], stream=True)
        agent.runner = lambda name, arguments: f"def f{number}(): {arguments['command']}"
        said.append(agent.run(f"{number}"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert said == ["Finished."] * 20
    assert [step.get("kind") for step in supervised.steps()].count("tool_result") == 100


def test_a_successor_knows_what_was_said_and_where_it_belongs(supervised_with: Make) -> None:
    supervised = supervised_with("steps")
    agent = supervised.agent("anthropic", stream=True)
    supervised.proxy.memory.keep((Message("remember this"),))
    agent.run("go", turns=2)
    supervised.supervisor.run.journal.flush()
    from interlock.adapters.proxy.proxy import Proxy
    from interlock.adapters.steps.step_numbering import StepNumbering

    book = StepNumbering(supervised.supervisor)
    upstreams = {"anthropic": supervised.model.url}
    supervised.proxy.close()
    supervised.proxy = Proxy(supervised.listener, book, Proxied(upstreams, TOKEN))
    book.recall(supervised.supervisor.run.journal.reader())
    supervised.proxy.recall(supervised.supervisor.run.journal.reader())
    supervised.proxy.start()
    while agent.ask()[1]:
        call = agent.history[-1]["content"][-1]
        agent.history += agent._results([((call["id"], call["name"], call["input"]), "ok")])
    assert all(request.history[0] == supervised.model.asked[0].history[0] for request in supervised.model.asked)
    assert "remember this" in str(supervised.model.asked[-1].history[0])
    results = [step["tool"]["call_id"] for step in supervised.steps() if step.get("kind") == "tool_result"]
    assert len(results) == len(set(results)) == 5
