"""A sender on the hub: a run with a link to a real broker, and somebody on another connection who sees both topics."""

from __future__ import annotations

import queue
from typing import Any

import msgspec

from interlock.config.schema import Hub
from interlock.control import Event, Executed
from interlock.link.hub_connect import open_session
from interlock.link.hub_endpoint import HubLink
from interlock.link.hub_session import LoopThread, control_subject, token_of

from ..control.owner import make, short
from .owned import Owned

WAIT_S = 150.0


class HubSender:
    """Sends raw messages to the run's topic, and reads what comes on both."""

    def __init__(self, owned: Owned, settings: Hub) -> None:
        self.owned = owned
        self.link = HubLink(settings, owned.endpoint, owned.journal)
        self.link.start()
        self.thread = LoopThread("sender")
        self.heard: queue.Queue[bytes] = queue.Queue()
        self.results: list[bytes] = []
        self.markers = 0
        self.sent = 0
        self.session = self.thread.run(self._open(settings))
        # Until the link has an inbox on the broker, its first words are not over.
        self.say(b"", 0)

    async def _open(self, settings: Hub) -> Any:
        session = await open_session(settings, "sender", no_echo=True)

        async def hear(message: Any) -> None:
            if message.subject.startswith(("loop:control", "loop:current")):
                self.heard.put(bytes(message.data))

        # One subscription for both topics: only within one is the order kept.
        await session.client.subscribe(f"*.{token_of(self.owned.folder.run_id)}", cb=hear)
        await session.client.flush()
        return session

    def do(self, event: Event) -> object:
        self.owned.endpoint.post(event)
        self._read_to(self._send_mark())
        return None

    def say(self, data: bytes, expected: int) -> list[str]:
        if data:
            self.send(data)
        return self._read_to(self._send_mark())

    def execute(self) -> list[str]:
        self.owned.endpoint.post(Executed(self.owned.actuator.orders[-1].request_id, True, "done"))
        return self._read_to(self._send_mark())

    def last_result(self) -> bytes:
        return self.results[-1] if self.results else b""

    def send(self, data: bytes, **headers: str) -> None:
        self.sent += 1
        name = f"{self.owned.folder.run_id}-sender-{self.sent}"

        async def publish() -> None:
            subject = control_subject(self.owned.folder.run_id)
            await self.session.settle([await self.session.publish(subject, data, name, **headers)])

        self.thread.run(publish())

    def close(self) -> None:
        self.link.close()
        self.thread.run(self.session.client.close())
        self.thread.close()

    def _send_mark(self) -> str:
        self.markers += 1
        mark = f"mark-{self.markers}"
        self.send(make("pause", run="nowhere", id=mark))
        return mark

    def _read_to(self, mark: str) -> list[str]:
        found = []
        while True:
            body = self.heard.get(timeout=WAIT_S)
            message = msgspec.json.decode(body)
            if message.get("request_id") == mark:
                return found
            if message.get("type") == "RESULT":
                self.results.append(body)
            found.append(short(message))
