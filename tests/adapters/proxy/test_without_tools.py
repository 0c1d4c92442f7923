"""An agent whose model requests declare no tools is paused and switched like any other."""

from __future__ import annotations

import http.client
import json
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from interlock.config import Config
from interlock.control import Command, RequestOutcome, new_request
from interlock.demo.model import ScriptedTurn
from interlock.link.owner_client import ask_owner

from ...e2e.running import until
from .agent import Agent
from .conftest import TOKEN, SupervisedRun

Make = Callable[..., SupervisedRun]

APIS = ("anthropic", "chat", "responses", "gemini")


def order(supervised: SupervisedRun, command: Command, payload: dict[str, object] | None = None) -> RequestOutcome:
    folder = supervised.supervisor.run.folder
    assert folder is not None
    request = new_request(str(uuid.uuid4()), command, supervised.supervisor.run.spec.run_id, payload or {})
    return ask_owner(folder, request, timeout=150)


class Asking:
    """Asks the model single questions for ever, each in a conversation of its own and without tools."""

    def __init__(self, agent: Agent) -> None:
        self._agent, self._over = agent, threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self.asked = 0

    def __enter__(self) -> Asking:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(150)

    def _ask(self) -> None:
        while not self._over.is_set():
            self._agent.history = [self._agent._user(f"question {self.asked}")]
            self._agent.ask()
            self.asked += 1


@pytest.mark.parametrize("api", APIS)
def test_no_model_request_goes_out_between_the_results_of_pause_and_resume(supervised_with: Make, api: str) -> None:
    supervised = supervised_with(lambda request: ScriptedTurn("Words."))
    with Asking(supervised.agent(api, tools=False, model="claude-haiku-4-5")) as asking:
        until("it works", lambda: asking.asked > 3)
        assert order(supervised, "pause").outcome == "success"
        until("the request under way is over", lambda: supervised.supervisor.run.summary.status == "paused")
        before = len(supervised.model.requests)
        time.sleep(0.5)
        assert len(supervised.model.requests) == before
        assert order(supervised, "resume").outcome == "success"
        until("it works again", lambda: len(supervised.model.requests) > before + 3)


def test_a_side_call_of_an_agent_with_tools_is_held_too(supervised_with: Make) -> None:
    supervised = supervised_with(lambda request: ScriptedTurn("Words."))
    main = supervised.agent("anthropic", model="claude-sonnet-4-5")
    main.run("go")
    with Asking(supervised.agent("anthropic", tools=False, model="claude-haiku-4-5")) as asking:
        until("it works", lambda: asking.asked > 1)
        assert order(supervised, "pause").outcome == "success"
        until("the request under way is over", lambda: supervised.supervisor.run.summary.status == "paused")
        before = len(supervised.model.requests)
        time.sleep(0.3)
        assert len(supervised.model.requests) == before
        assert order(supervised, "resume").outcome == "success"


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/embeddings"])
def test_a_request_in_a_format_that_is_not_read_is_held_too(supervised_with: Make, path: str) -> None:
    supervised = supervised_with("healthy")
    assert order(supervised, "pause").outcome == "success"
    parts = urlsplit(supervised.url("chat"))
    statuses: list[int] = []

    def post() -> None:
        connection = http.client.HTTPConnection(parts.netloc, timeout=150)
        connection.request("POST", f"/{TOKEN}/openai{path}", json.dumps({"model": "m-1", "prompt": "x"}))
        statuses.append(connection.getresponse().status)

    thread = threading.Thread(target=post, daemon=True)
    thread.start()
    thread.join(0.4)
    assert statuses == [] and thread.is_alive()
    assert order(supervised, "resume").outcome == "success"
    thread.join(150)
    assert statuses


@pytest.mark.parametrize("api", APIS)
def test_escalate_changes_the_model_of_requests_without_tools(supervised_with: Make, api: str) -> None:
    supervised = supervised_with(lambda request: ScriptedTurn("Words."))
    with Asking(supervised.agent(api, tools=False, model="claude-haiku-4-5")) as asking:
        until("it works", lambda: asking.asked > 1)
        answer = order(supervised, "escalate", {"model": "claude-opus-5-5"})
        assert answer.outcome == "success"
        until("the new model is asked", lambda: supervised.model.requests[-1].model == "claude-opus-5-5")
    assert supervised.model.requests[0].model == "claude-haiku-4-5"


def test_a_smaller_model_for_side_calls_stays(supervised_with: Make) -> None:
    supervised = supervised_with(lambda request: ScriptedTurn("Words."))
    main, side = (
        supervised.agent("anthropic", model="claude-sonnet-4-5"),
        supervised.agent("anthropic", tools=False, model="small"),
    )
    main.run("go")
    assert order(supervised, "escalate", {"model": "claude-opus-5-5"}).outcome == "success"
    side.run("a title, please")
    main.run("more")
    assert [request.model for request in supervised.model.requests] == ["claude-sonnet-4-5", "small", "claude-opus-5-5"]


def state_of(supervised: SupervisedRun) -> dict[str, Any]:
    return supervised.records("state")[-1]


def test_a_frame_names_the_model_before_any_escalation_and_the_result_the_previous_one(supervised_with: Make) -> None:
    supervised = supervised_with(lambda request: ScriptedTurn("Words."))
    agent = supervised.agent("anthropic", model="claude-haiku-4-5")
    agent.run("go")
    until("it is known", lambda: supervised.supervisor.run.summary.model is not None)
    seen = supervised.supervisor.run.summary.model
    until("the frame names it", lambda: state_of(supervised)["stack"][-1]["model"] == seen)
    answer = order(supervised, "escalate", {"model": "claude-opus-5-5", "reason": "hard"})
    assert answer.result is not None
    assert (answer.result.payload.previous_model, answer.result.payload.new_model) == (seen, "claude-opus-5-5")
    frame = state_of(supervised)["stack"][-1]
    assert (frame["model"], frame["escalation_reason"]) == ("claude-opus-5-5", "hard")


def test_a_run_on_a_strong_model_is_not_escalated_to_a_weaker_one(supervised_with: Make) -> None:
    supervised = supervised_with(lambda request: ScriptedTurn("Words."), config=Config())
    agent = supervised.agent("anthropic", model="claude-opus-5-5")
    agent.run("go")
    until("it is known", lambda: supervised.supervisor.run.summary.model == "claude-opus-5-5")
    until("the frame names it", lambda: state_of(supervised)["stack"][-1]["model"] == "claude-opus-5-5")
    answer = order(supervised, "escalate", {"model": "haiku"})
    assert (answer.outcome, answer.code) == ("failure", "invalid_state")
    agent.run("more")
    assert supervised.model.requests[-1].model == "claude-opus-5-5"
