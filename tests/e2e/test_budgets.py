"""Real runs behind the proxy share a budget, on one machine and through a hub, while owners and whole runs are killed.

What counts is what the model has sold, not what Interlock has booked.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import msgspec
import pytest

from interlock.demo.model import ModelRequest, ScriptedModel, ScriptedTurn, Tokens, run
from interlock.journal import RunFolder

from ..link.broker import Broker
from .running import Place, owners, until

AGENT = str(Path(__file__).parents[1] / "adapters" / "proxy" / "agent.py")
STEP = 1100
EACH = 6
"""Steps for each run, on average."""

PATIENCE_S = 120.0

TALKER = """
import http.client, json, os, sys, urllib.parse
where = urllib.parse.urlsplit(os.environ["ANTHROPIC_BASE_URL"])
said = []
for turn in range(8):
    said.append({"role": "user", "content": sys.argv[2] if not turn else f"And {turn}?"})
    body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": said}
    connection = http.client.HTTPConnection(where.hostname, where.port)
    connection.request("POST", where.path + "/v1/messages", json.dumps(body), {"content-type": "application/json"})
    said.append({"role": "assistant", "content": json.loads(connection.getresponse().read())["content"]})
"""


class Shop:
    """A model that counts what it sells to each run, and answers none before all have asked."""

    def __init__(self, *, talks: bool = False) -> None:
        self.sold: Counter[str] = Counter()
        self.runs = 1
        self._talks, self._lock = talks, threading.Condition()
        self.model = ScriptedModel(self._answer).start()

    def _answer(self, request: ModelRequest) -> ScriptedTurn:
        name = request.text.partition("this is ")[2].split('"')[0]
        with self._lock:
            self.sold[name] += STEP
            self._lock.notify_all()
            self._lock.wait_for(lambda: len(self.sold) >= self.runs, PATIENCE_S)
        says = () if self._talks else (run(f"echo {request.turn} >> notes-{request.turn}.txt"),)
        return ScriptedTurn(text=f"Part {request.turn}.", calls=says, tokens=Tokens(1000, 100))

    @property
    def total(self) -> int:
        return sum(self.sold.values())


@pytest.fixture
def shop() -> Iterator[Shop]:
    made = Shop()
    yield made
    made.model.close()


def place_at(root: Path, budget: dict[str, object], **config: object) -> Place:
    root.mkdir()
    budgets = [{"name": "nightly", "per": "month", **budget}]
    place = Place(root, {"budgets": budgets, "runtime": {"contain": "off"}, **config})
    (root / "config" / "interlock").mkdir(parents=True)
    (root / "config" / "interlock" / "interlock.yaml").symlink_to(place.config)
    return place


def is_paused(place: Place) -> bool:
    return any(row.status == "paused" for row in place.store.runs())


def begin(place: Place, shop: Shop, name: str, *script: str) -> subprocess.Popen[bytes]:
    workspace = place.root / name
    workspace.mkdir()
    words = (sys.executable, *(script or (AGENT,)), "anthropic", f"this is {name}")
    env = {**place.environment, "ANTHROPIC_BASE_URL": shop.model.url, "HOME": str(place.root)}
    return place.start(*words, options=("--proxy", "--name", name, "--workspace", str(workspace)), env=env)


def spend_together(places: list[Place], shop: Shop, count: int) -> None:
    """Runs at once; of every five one loses its owner and one is killed whole."""
    shop.runs = count
    with ExitStack() as stack:
        for place in places:
            stack.callback(end, place)
        runs = [(place := places[n % len(places)], f"run-{n}", begin(place, shop, f"run-{n}")) for n in range(count)]
        for n, (place, name, process) in enumerate(runs):
            if n % 5 not in (1, 3) or (n % 5 == 3 and count < 5):
                continue
            until("it spends", lambda name=name: shop.sold[name] > 0, PATIENCE_S)  # type: ignore[misc]
            run_id = next(row.run_id for row in place.store.runs() if row.name == name)
            if (owner := RunFolder(place.store.root / run_id).owner()) is not None:
                with suppress(ProcessLookupError):
                    os.kill(owner.pid, signal.SIGKILL)
            if n % 5 == 3:
                process.kill()
        ended = [process.wait(PATIENCE_S) for _, _, process in runs]
        killed = [status for n, status in enumerate(ended) if n % 5 == 3 and count >= 5]
        assert all(status == 124 for status in ended if status not in killed), ended


def end(place: Place) -> None:
    place.close()
    for module in (b"interlock.adapters.command.owner", b"interlock.adapters.command.adoption"):
        for pid in owners(place, module):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


COUNTS = [4, pytest.param(20, marks=pytest.mark.torture)]


@pytest.mark.parametrize("count", COUNTS)
def test_runs_on_one_machine_never_spend_more_than_a_step_each_beyond_their_budget(tmp_path, shop, count):
    most = count * EACH * STEP
    place = place_at(tmp_path / "here", {"max_tokens": most, "on_limit": "stop"})
    spend_together([place], shop, count)
    print(f"{count} runs: {shop.total} of {most} tokens, {len(shop.sold)} spent")
    # A killed run may have reserved a step that it never took.
    assert most - count * STEP <= shop.total <= most + count * STEP
    (told,) = msgspec.json.decode(place.interlock("budget", "--json")[1])["budgets"]
    assert told["used"]["tokens"] <= shop.total, told
    assert b"used up" in place.interlock("budget")[1]


@pytest.mark.parametrize("count", COUNTS)
def test_runs_of_two_machines_on_a_hub_never_spend_more_than_a_step_each_beyond_their_budget(tmp_path, shop, count):
    most = count * EACH * STEP
    with Broker(tmp_path / "hub") as broker:
        hub = {"url": broker.url, "unsigned": True}
        budget = {"max_tokens": most, "on_limit": "stop"}
        places = [place_at(tmp_path / name, dict(budget), hub=hub) for name in ("one", "two")]
        spend_together(places, shop, count)
        print(f"{count} runs: {shop.total} of {most} tokens, {len(shop.sold)} spent")
        assert most - count * STEP <= shop.total <= most + count * STEP


def test_a_paused_run_goes_on_when_it_is_resumed_until_a_tenth_more_is_used(tmp_path, shop):
    place = place_at(tmp_path / "here", {"max_tokens": 10 * STEP, "on_limit": "pause"})
    try:
        process = begin(place, shop, "alone")
        for most in (10, 11, 12):
            until("it is paused", lambda: is_paused(place))
            assert most <= shop.total / STEP <= most + 1
            assert place.interlock("resume", place.folder.run_id)[0] == 0
            until("it goes on", lambda most=most: shop.total / STEP > most)  # type: ignore[misc]
        until("it is paused", lambda: is_paused(place))
        # Also where the owner that knew why it is held is gone.
        owner = place.folder.owner()
        assert owner is not None
        os.kill(owner.pid, signal.SIGKILL)
        until("it has another", lambda: (o := place.folder.owner()) is not None and o.pid != owner.pid)
        before = shop.total
        assert place.interlock("resume", place.folder.run_id)[0] == 0
        until("it goes on", lambda: shop.total > before)
        assert place.interlock("cancel", place.folder.run_id)[0] == 0
        process.wait(PATIENCE_S)
    finally:
        end(place)


@pytest.mark.parametrize("on_limit", ["warn", "stop"])
def test_an_agent_that_only_talks_is_held_to_its_budget(tmp_path, on_limit):
    shop = Shop(talks=True)
    place = place_at(tmp_path / "here", {"max_tokens": 3 * STEP, "on_limit": on_limit})
    try:
        process = begin(place, shop, "talker", "-c", TALKER)
        status = process.wait(PATIENCE_S)
        assert place.records("limit")
        assert (status, shop.total // STEP) == ((0, 8) if on_limit == "warn" else (124, 3))
    finally:
        end(place)
        shop.model.close()
