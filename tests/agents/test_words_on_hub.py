"""A real SDK that declares no tools, behind the proxy and steered over a real hub."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.config.schema import Hub
from interlock.control import Command, RequestOutcome, new_request
from interlock.core.decoding import from_json
from interlock.demo.model import ScriptedTurn
from interlock.link.hub_client import HubClient

from ..control.owner import make
from ..link.broker import Broker
from ..link.test_hub_absent import ByHand
from .clients import until
from .frameworks import ROOT, Framework, Program

AGENT = "anthropic"
pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]
WORDS = Path(__file__).parent / "programs" / "words_anthropic.py"


class OnHub(Program):
    """The program under `interlock run --proxy --hub`; orders go over the hub."""

    def __init__(self, root: Path, broker: Broker, model: str) -> None:
        super().__init__(root, Framework("anthropic", frozenset(), (model,)), lambda request: ScriptedTurn("Words."))
        # The same key as the run's: the same person.
        self.settings = Hub(url=broker.url, key_file=str(root / "config" / "interlock" / "key"))
        self.broker, self.client, self._orders = broker, HubClient(self.settings), 0
        options = ("--proxy", "--hub", broker.url, "--issue", "LIN-9")
        self.process = self.begin(self.command(sys.executable, str(WORDS), options=options))
        until("it asks", lambda: len(self.model.requests) > 2)
        until("the hub knows it", lambda: bool(self.client.runs()))
        self.run_id = self.client.runs()[0].summary.run_id

    def order(
        self, command: Command, payload: dict[str, object] | None = None, issue: str | None = None
    ) -> RequestOutcome:  # type: ignore[override]
        self._orders += 1
        request = new_request(f"{command}-{self._orders}", command, self.run_id, payload, issue_id=issue)
        return self.client.ask(request, timeout=30)

    def current(self) -> dict[str, Any]:
        return from_json(self.client.current(self.run_id) or b"{}", dict)

    def close(self) -> None:
        self.client.close()
        super().close()


@pytest.fixture
def on_hub(tmp_path: Path, record_property: Callable[[str, object], None]) -> Iterator[Callable[[str], OnHub]]:
    record_property("agent", "anthropic SDK without tools (proxy and hub)")
    made: list[OnHub] = []
    with Broker(tmp_path / "js") as broker:

        def make(model: str) -> OnHub:
            made.append(OnHub(tmp_path, broker, model))
            return made[-1]

        yield make
        for one in made:
            one.close()


def test_a_paused_run_asks_its_model_nothing_and_resumes(on_hub: Callable[[str], OnHub]) -> None:
    here = on_hub("claude-haiku-4-5")
    assert here.order("pause", issue="LIN-9").outcome == "success"
    until("it is paused", lambda: here.current()["status"] == "paused")
    before = len(here.model.requests)
    time.sleep(3)
    assert len(here.model.requests) == before
    assert here.order("resume").outcome == "success"
    until("it asks again", lambda: len(here.model.requests) > before + 2)
    frame = here.current()["stack"][-1]
    assert (frame["mode"], frame["issue_id"], frame["model"]) == ("issue", "LIN-9", "claude-haiku-4-5")
    assert here.order("pause", issue="other").code == "not_found"


def test_escalate_changes_the_model_says_the_previous_one_and_never_goes_down(on_hub: Callable[[str], OnHub]) -> None:
    here = on_hub("claude-sonnet-4-5")
    until("its model is known", lambda: here.current()["stack"][-1]["model"] == "claude-sonnet-4-5")
    assert here.order("escalate", {"model": "haiku"}).code == "invalid_state"
    answer = here.order("escalate", {"model": "claude-opus-5-5", "reason": "hard"})
    assert answer.outcome == "success" and answer.result is not None
    payload = answer.result.payload
    assert (payload.previous_model, payload.new_model) == ("claude-sonnet-4-5", "claude-opus-5-5")
    until("the new model is asked", lambda: here.model.requests[-1].model == "claude-opus-5-5")
    assert here.order("escalate", {"model": "claude-sonnet-5"}).code == "invalid_state"


def test_a_run_that_has_ended_is_not_found_on_the_hub_by_hand(on_hub: Callable[[str], OnHub]) -> None:
    here = on_hub("claude-haiku-4-5")
    (here.workspace / "stop").touch()
    here.process.communicate(timeout=60)
    serving = subprocess.Popen(
        [sys.executable, "-m", "interlock", "serve", "--hub", here.broker.url],
        env={**os.environ, **here.environment, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.PIPE,
    )
    hand = ByHand(here)
    try:
        assert serving.stdout is not None and serving.stdout.readline()
        for run in (here.run_id, "nowhere"):
            hand.publish(run, make("pause", run=run, id=f"to {run}"))
            answer = hand.heard.get(timeout=60)
            assert (answer["type"], answer["request_id"]) == ("RESULT", f"to {run}")
            assert answer["payload"]["code"] == "not_found"
    finally:
        hand.close()
        serving.terminate()
        serving.wait(30)
