"""Requests on the hub to runs that have nobody: ended or unknown ones get `not_found`, and a retry its stored RESULT."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from interlock.control import RunEnded
from interlock.link import hub_absent
from interlock.link.hub_absent import AbsentRuns
from interlock.link.hub_client import HubClient
from interlock.link.hub_connect import open_session
from interlock.link.hub_endpoint import HubLink
from interlock.link.hub_session import LoopThread, control_subject

from ..control.owner import make
from ..waiting import eventually
from .broker import Broker
from .owned import Owned
from .test_hub import ask


@pytest.fixture
def broker(quick_root: Path) -> Iterator[Broker]:
    with Broker(quick_root / "js") as running:
        yield running


class ByHand:
    """Somebody who publishes messages by hand and reads the topic."""

    def __init__(self, broker: Any) -> None:
        self._thread, self._count = LoopThread("by hand"), 0
        self.heard: queue.Queue[dict[str, Any]] = queue.Queue()
        self._session = self._thread.run(open_session(broker.settings, "by hand", no_echo=True))

        async def hear(message: Any) -> None:
            self.heard.put(msgspec.json.decode(message.data))

        async def listen() -> None:
            await self._session.client.subscribe("loop:control.*", cb=hear)
            await self._session.client.flush()

        self._thread.run(listen())

    def publish(self, run: str, data: bytes, **headers: str) -> None:
        self._count += 1

        async def send() -> None:
            name = f"hand-{self._count}"
            await self._session.settle([await self._session.publish(control_subject(run), data, name, **headers)])

        self._thread.run(send())

    def close(self) -> None:
        self._thread.run(self._session.client.close())
        self._thread.close()


@pytest.fixture
def hand(broker: Broker) -> Iterator[ByHand]:
    made = ByHand(broker)
    yield made
    made.close()


@pytest.fixture
def absent(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> Iterator[AbsentRuns]:
    monkeypatch.setattr(hub_absent, "GRACE_S", 0.1)
    monkeypatch.setattr(hub_absent, "UNKNOWN_GRACE_S", 0.3)
    made = AbsentRuns(broker.settings)
    made.start()
    eventually(lambda: made.problem == "")
    yield made
    made.close()


def end_a_run(broker: Broker, root: Path, run_id: str) -> None:
    """A run that was on the hub, ended, and has no owner any more."""
    with Owned(root / run_id, run_id=run_id) as owned:
        link = HubLink(broker.settings, owned.endpoint, owned.journal)
        link.start()
        with HubClient(broker.settings) as client:
            eventually(lambda: client.current(run_id) is not None)
            owned.endpoint.post(RunEnded("COMPLETE"))
            eventually(lambda: b"DONE" in (client.current(run_id) or b""))
        link.close()


def test_a_request_by_hand_to_a_run_that_has_ended_gets_not_found_alone(
    broker: Broker, quick_root: Path, hand: ByHand, absent: AbsentRuns
) -> None:
    end_a_run(broker, quick_root, "over")
    hand.publish("over", make("pause", run="over", id="late"))
    answer = hand.heard.get(timeout=150)
    assert (answer["type"], answer["request_id"], answer["command"]) == ("RESULT", "late", "pause")
    assert (answer["payload"]["status"], answer["payload"]["code"]) == ("failure", "not_found")
    assert answer["target"]["run_id"] == "over"
    time.sleep(0.3)
    assert hand.heard.empty(), "no ACK, and no second answer"


def test_a_request_that_came_before_anybody_listened_is_answered_too(
    broker: Broker, quick_root: Path, hand: ByHand, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_a_run(broker, quick_root, "over")
    hand.publish("over", make("pause", run="over", id="early"))
    absent = AbsentRuns(broker.settings)
    absent.start()
    answer = hand.heard.get(timeout=150)
    absent.close()
    assert (answer["request_id"], answer["payload"]["code"]) == ("early", "not_found")


def test_a_request_to_a_run_that_nobody_knows_gets_not_found(hand: ByHand, absent: AbsentRuns) -> None:
    hand.publish("never", make("cancel", run="never", id="x"))
    answer = hand.heard.get(timeout=150)
    assert answer["payload"]["code"] == "not_found"
    assert "has no run never" in answer["payload"]["message"]


def test_a_malformed_request_to_nobody_gets_bad_request(hand: ByHand, absent: AbsentRuns) -> None:
    hand.publish("never", b'{"schema": 0, "type": "REQUEST", "request_id": "m", "command": "dance"}')
    assert hand.heard.get(timeout=150)["payload"]["code"] == "bad_request"


def test_whoever_asks_again_after_the_end_gets_the_stored_result(
    broker: Broker, quick_root: Path, hand: ByHand, absent: AbsentRuns
) -> None:
    with Owned(quick_root / "run", run_id="run") as owned:
        link = HubLink(broker.settings, owned.endpoint, owned.journal)
        link.start()
        with HubClient(broker.settings) as client:
            eventually(lambda: client.current("run") is not None)
            assert ask(client, "cancel", run="run").outcome == "success"
            eventually(lambda: b"ABORT" in (client.current("run") or b""))
        link.close()
    with HubClient(broker.settings) as client:
        again = ask(client, "cancel", run="run")
    assert again.outcome == "success", "the same request_id, the same answer"


def test_a_live_run_is_left_to_its_owner(broker: Broker, quick_root: Path, hand: ByHand, absent: AbsentRuns) -> None:
    with Owned(quick_root / "live", run_id="live") as owned:
        link = HubLink(broker.settings, owned.endpoint, owned.journal)
        link.start()
        with HubClient(broker.settings) as client:
            eventually(lambda: client.current("live") is not None)
        link.close()
    # Its owner is gone without a word: nobody may say that the run has ended.
    hand.publish("live", make("pause", run="live", id="p"))
    time.sleep(1.0)
    assert hand.heard.empty() and absent.answered == 0
