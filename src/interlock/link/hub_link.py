"""HubLink: a run's endpoint on the hub. Requests come through the stream, all else goes out from the journal."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from ..config.model import Hub as HubSettings
from ..control import LogEntry
from ..core import InterlockError
from ..journal.interface import JournalWriting
from .endpoint import Endpoint
from .hub import (
    REPLY_HEADER,
    SEQ_HEADER,
    STREAM,
    HubSession,
    SessionLost,
    control_subject,
    open_session,
    telling,
    token_of,
)
from .loop_thread import LoopThread
from .outbox import Outbox

BACK_OFF_S = (0.2, 5.0)
"""Time between two tries to find the hub: at first, and later."""

PULL = 64
PULL_S = 20.0
REDELIVER_S = 15.0


class HubReply:
    """Answers to one copy: on the short way to its sender, and, unless they go out with the journal, to the topic."""

    def __init__(self, link: HubLink, session: HubSession, number: int, inbox: str | None) -> None:
        self._link, self._session, self._number, self._inbox = link, session, number, inbox
        self._count = 0

    def send(self, body: bytes, *, direct: bool = False, seq: int | None = None) -> None:
        if direct:
            return
        self._count += 1
        message_id = f"{self._link.run_id}:re:{self._number}:{self._count}" if seq is None else None
        self._link.answer(self._session, body, self._inbox, message_id)


class HubLink:
    """Keeps a run in touch with the hub for as long as it lives. A broken network delays, it does not lose."""

    def __init__(self, settings: HubSettings, endpoint: Endpoint, journal: JournalWriting) -> None:
        self.run_id = journal.run_id
        self.problem = "not connected yet"
        self._settings, self._endpoint, self._journal = settings, endpoint, journal
        self._thread = LoopThread(f"hub {self.run_id}")
        self._worker = ThreadPoolExecutor(1, f"hub {self.run_id}")
        self._more = asyncio.Event()
        self._sending: set[asyncio.Future[None]] = set()
        self._outbox: Outbox | None = None
        self._unfollow: Callable[[], None] | None = None

    def start(self) -> None:
        """Begin, in the background: a hub that is not there yet is found when it comes."""
        self._unfollow = self._endpoint.follow(self._ring)
        self._thread.begin(self._keep())

    def close(self, flush_s: float = 2.0) -> None:
        """Let go, after a last try to send what has not gone out."""
        if self._unfollow is not None:
            self._unfollow()
        if self._outbox is not None and not self.problem:
            with contextlib.suppress(TimeoutError, SessionLost):
                self._thread.begin(self._outbox.finish()).result(flush_s)
        self._worker.shutdown()
        self._thread.close()

    def answer(self, session: HubSession, body: bytes, inbox: str | None, message_id: str | None) -> None:
        """Send an answer; if that fails, the sender asks again. Called in whatever thread has it."""

        async def send() -> None:
            with contextlib.suppress(SessionLost):
                if inbox is not None:
                    await session.reply(inbox, body)
                if message_id is not None:
                    sent = await session.publish(control_subject(self.run_id), body, message_id, **{SEQ_HEADER: "0"})
                    await session.settle([sent])

        asyncio.run_coroutine_threadsafe(send(), self._thread.loop)

    def _ring(self, seq: int, entry: LogEntry) -> None:
        """Something was committed. Called in whatever thread committed it."""
        self._thread.loop.call_soon_threadsafe(self._more.set)

    async def _keep(self) -> None:
        """One session after the other."""
        pause = BACK_OFF_S[0]
        while True:
            try:
                session = await open_session(self._settings, f"interlock run {self.run_id}")
                self.problem, pause = "", BACK_OFF_S[0]
                try:
                    await self._live(session)
                finally:
                    self.problem = "the hub has gone"
                    await session.client.close()
            except (InterlockError, SessionLost) as error:
                self.problem = str(error) or "the hub has gone"
            await asyncio.sleep(pause)
            pause = min(BACK_OFF_S[1], pause * 2)

    async def _live(self, session: HubSession) -> None:
        """Receive and send until one of the two, or the connection, ends."""
        reader = self._journal.reader()
        self._outbox = Outbox(session, self.run_id, reader)
        tasks = [
            asyncio.create_task(self._outbox.work(self._more)),
            asyncio.create_task(self._receive(session)),
            asyncio.create_task(session.closed.wait()),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            reader.close()

    async def _receive(self, session: HubSession) -> None:
        """Take requests; the broker is told after the journal's first transaction."""
        consumer = await self._ensure_consumer(session)
        arrived: asyncio.Queue[Any] = asyncio.Queue()
        inbox = session.client.new_inbox()
        async with telling():
            await session.client.subscribe(inbox, cb=arrived.put)
        want = msgspec.json.encode({"batch": PULL, "expires": int(PULL_S * 1e9)})
        pending = 0
        while True:
            if pending <= 0:
                async with telling():
                    await session.client.publish(f"$JS.API.CONSUMER.MSG.NEXT.{STREAM}.{consumer}", want, inbox)
                pending = PULL
            try:
                async with asyncio.timeout(PULL_S + 5):
                    message = await arrived.get()
            except TimeoutError:
                raise SessionLost("the hub does not answer") from None
            status = (message.headers or {}).get("Status")
            if status is not None:
                if status not in ("404", "408"):
                    raise SessionLost(f"the hub took the inbox away ({status})")
                pending = 0
                continue
            pending -= 1
            await self._handle_message(session, message)

    async def _handle_message(self, session: HubSession, message: Any) -> None:
        if SEQ_HEADER in (message.headers or {}):
            # What we said ourselves on the topic.
            async with telling():
                await message.ack()
            return
        about = message.metadata
        age = max(0.0, session.broker_time() - about.timestamp.timestamp())
        reply = HubReply(self, session, about.sequence.stream, (message.headers or {}).get(REPLY_HEADER))
        # In another thread, and not waited for: the ACK goes out while the command is being executed.
        self._worker.submit(self._hand_over, message, reply, age)

    def _hand_over(self, message: Any, reply: HubReply, age: float) -> None:
        """One copy after the other, in the order in which they came."""
        try:
            self._endpoint.receive(bytes(message.data), reply, age=age, actor="hub")
        except InterlockError:
            # Not durable, so not acknowledged: the broker brings it again.
            return
        self._thread.loop.call_soon_threadsafe(self._acknowledge, message)

    def _acknowledge(self, message: Any) -> None:
        async def send() -> None:
            with contextlib.suppress(SessionLost):
                async with telling():
                    await message.ack()

        task = asyncio.ensure_future(send())
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _ensure_consumer(self, session: HubSession) -> str:
        from nats.js import api

        name = f"owner-{token_of(self.run_id)}"
        config = api.ConsumerConfig(
            durable_name=name,
            filter_subject=control_subject(self.run_id),
            ack_policy=api.AckPolicy.EXPLICIT,
            ack_wait=REDELIVER_S,
            inactive_threshold=24 * 3600.0,
        )
        async with telling():
            await session.stream.add_consumer(STREAM, config)
        return name
