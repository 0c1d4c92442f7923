"""kill -9 of the NATS server, again and again, while commands go through it: nothing lost, nothing doubled."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

import msgspec
import pytest

from interlock.control import RequestOutcome, new_request
from interlock.core import InterlockError, Record
from interlock.link.hub_client import HubClient
from interlock.link.hub_connect import open_session
from interlock.link.hub_endpoint import HubLink
from interlock.link.hub_session import STREAM, LoopThread, record_subject
from interlock.link.hub_streams import read_all

from ..waiting import PATIENCE_S
from .broker import Broker
from .owned import Owned


def control_under_fire(root: Path, kills: int, seed: int) -> None:
    dice = random.Random(seed)
    over = threading.Event()
    told: dict[str, RequestOutcome] = {}
    broker = Broker(root / "js").start()
    with Owned(root / "runs") as owned, HubClient(broker.settings) as elsewhere:
        link = HubLink(broker.settings, owned.endpoint, owned.journal)
        link.start()

        def steer() -> None:
            number = 0
            while not over.is_set():
                number += 1
                command = "pause" if number % 2 else "resume"
                request = new_request(f"{command}-{number}", command, "run-1")  # type: ignore[arg-type]
                told[request.request_id] = elsewhere.ask(request, timeout=120)

        person = threading.Thread(target=steer)
        person.start()
        for _ in range(kills):
            time.sleep(dice.uniform(0.02, 0.3))
            broker.kill()
            time.sleep(dice.choice((0.0, 0.05, 0.2)))
            broker.start()
        over.set()
        person.join()
        written = list(owned.journal.reader().read())
        published = wait_for_all(broker, written)
        link.close()
    broker.kill()
    judge(told, written, published)


def wait_for_all(broker: Broker, written: list[Record]) -> list[int]:
    """The sequence numbers of the records that the stream has, in its order, once the last one is there."""
    thread = LoopThread("count")

    async def read() -> list[int]:
        session = await open_session(broker.settings, "count")
        try:
            found = [message async for message in read_all(session, record_subject("run-1"))]
            return [msgspec.json.decode(message.data, type=Record).seq for message in found]
        finally:
            await session.client.close()

    deadline = time.monotonic() + PATIENCE_S
    try:
        while time.monotonic() < deadline:
            found = thread.run(read())
            if found and max(found) >= written[-1].seq and len(set(found)) >= len(written):
                return found
            time.sleep(0.1)
    finally:
        thread.close()
    raise AssertionError(f"the hub has {len(set(found))} of {len(written)} records")


def judge(told: dict[str, RequestOutcome], written: list[Record], published: list[int]) -> None:
    results: dict[str, list[str]] = {}
    effects: dict[str, int] = {}
    for record in written:
        message = msgspec.json.decode(record.body)
        if record.kind == "result":
            results.setdefault(message["request_id"], []).append(message["payload"]["status"])
        elif record.kind == "state" and message.get("request_id"):
            effects[message["request_id"]] = effects.get(message["request_id"], 0) + 1
    print(len(told), "commands,", sum(a.attempts for a in told.values()), "copies,", len(written), "records")
    assert told and all(answer.outcome == "success" for answer in told.values()), told
    assert all(results[request_id] == ["success"] for request_id in told), "lost or doubled"
    assert all(count == 1 for count in effects.values()) and set(effects) == set(told), "lost or doubled"
    assert sorted(published) == list(range(1, len(written) + 1)), "the stream has lost or doubled a record"


def test_twenty_kills_of_the_server(quick_root: Path) -> None:
    control_under_fire(quick_root, 20, 1)


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(4))
def test_two_hundred_kills_of_the_server(tmp_path: Path, seed: int) -> None:
    control_under_fire(tmp_path, 50, 100 + seed)


def test_a_stream_of_somebody_else_is_not_touched(quick_root: Path) -> None:
    with Broker(quick_root / "js") as broker:
        thread = LoopThread("other")

        async def occupy() -> None:
            import nats

            client = await nats.connect(broker.url)
            await client.jetstream().add_stream(name=STREAM, subjects=["theirs"])
            await client.close()

        thread.run(occupy())
        thread.close()
        with pytest.raises(InterlockError, match="belongs to something else"):
            HubClient(broker.settings)
