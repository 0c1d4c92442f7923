"""HubLink: a run's endpoint on the hub. Requests come from the stream; everything else is sent from the journal."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec import Struct

from ..config import Hub as HubSettings
from ..control import EXPIRY_S, LogEntry, TransportNoted
from ..core import InterlockError
from ..journal import JournalWriting
from .endpoint import Endpoint
from .hub_connect import keep_session
from .hub_session import (
    REPLY_HEADER,
    HubSession,
    LoopThread,
    SessionLost,
    control_subject,
    message_of,
    stored_subject,
    translated_errors,
)
from .hub_signing import SEQ_HEADER, HubMessage, NotSigned
from .hub_streams import ensure_streams, read_all
from .outbox import HubProblems, Outbox
from .request_queue import RequestQueue

log = logging.getLogger("interlock")

BACK_OFF_S = (0.2, 5.0)
"""Time between two attempts to reach the hub: at first, and later."""

CATCH_UP_S = 10.0
"""How often the stream is read for requests that were not delivered, as delivery is not guaranteed."""

COPIES_S = 30.0
"""How often an owner requests the replicas that a cluster could not provide when its streams were created."""

TRY_AGAIN_S = 1.0
"""How long a request waits if the journal could not be written."""


FLOOD, FLOOD_S = 100, 0.2
"""More copies than this in this many seconds are a flood: until it ends, only cancels are executed."""

LULL_S = 0.01


class HubReply:
    """Sends answers to one copy: directly to its sender and, unless the journal's outbox does, to the topic."""

    def __init__(self, link: HubLink, session: HubSession, number: int, inbox: str | None) -> None:
        self._link, self._session, self._number, self._inbox = link, session, number, inbox
        self._count = 0

    def send(self, body: bytes, *, direct: bool = False, seq: int | None = None) -> None:
        if direct:
            return
        self._count += 1
        message_id = f"{self._link.token}:re:{self._number}:{self._count}" if seq is None else None
        self._link.answer(self._session, body, self._inbox, message_id)


class _Copy(Struct, frozen=True):
    """One copy of a request, and who sent it."""

    session: HubSession
    message: HubMessage
    actor: str


class HubLink:
    """Connects a run to the hub for as long as it lives. A broken network delays messages, but loses none."""

    def __init__(self, settings: HubSettings, endpoint: Endpoint, journal: JournalWriting) -> None:
        self.run_id = journal.run_id
        self.token = os.urandom(12).hex()
        """The prefix of our message ids. The broker drops ids that it has seen, so nobody may guess the next one."""
        self.problems = HubProblems(lambda note: self._worker.submit(self._note, note), endpoint.counts)
        self._settings, self._endpoint, self._journal = settings, endpoint, journal
        self._thread = LoopThread(f"hub {self.run_id}")
        self._worker = ThreadPoolExecutor(1, f"hub {self.run_id}")
        self._more, self._missed = asyncio.Event(), asyncio.Event()
        self._waiting: RequestQueue[_Copy] = RequestQueue()
        self._through, self._seen = 0, set[int]()
        self._arrivals: deque[float] = deque(maxlen=FLOOD)
        self._outbox: Outbox | None = None
        self._unfollow: Callable[[], None] | None = None

    @property
    def problem(self) -> str:
        """Why the run is not on the hub right now; empty if it is."""
        return self.problems.problem

    def start(self) -> None:
        """Start in the background; a hub that is not reachable yet is retried."""
        self._unfollow = self._endpoint.follow(self._ring)
        name = f"interlock run {self.run_id}"
        self._thread.begin(keep_session(self._settings, name, self._live, self.problems.set, BACK_OFF_S))

    def close(self, flush_s: float = 2.0) -> None:
        """Disconnect, after a last attempt to send what is pending."""
        if self._unfollow is not None:
            self._unfollow()
        if self._outbox is not None and self._outbox.is_connected:
            with contextlib.suppress(TimeoutError, SessionLost, InterlockError):
                self._thread.begin(self._outbox.finish()).result(flush_s)
        self._worker.shutdown()
        self._thread.close()

    def answer(self, session: HubSession, body: bytes, inbox: str | None, message_id: str | None) -> None:
        """Send an answer; if that fails, the sender asks again. Called in any thread."""

        async def send() -> None:
            subject = control_subject(self.run_id)
            with contextlib.suppress(SessionLost, InterlockError):
                if inbox is not None:
                    await session.reply(inbox, subject, body)
                if message_id is not None:
                    await session.settle([await session.publish(subject, body, message_id, **{SEQ_HEADER: "0"})])

        asyncio.run_coroutine_threadsafe(send(), self._thread.loop)

    def _ring(self, seq: int, entry: LogEntry) -> None:
        """Something was committed. Called in any thread."""
        self._thread.loop.call_soon_threadsafe(self._more.set)

    async def _live(self, session: HubSession) -> None:
        """Receive and send until one of the two, or the connection, ends."""
        reader = self._journal.reader()
        self._outbox = Outbox(session, self.run_id, reader, self.problems, self.token)
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
        """Receive requests as the server stores them; what was not delivered is read from the stream.

        A copy older than 30 s is never executed, so the server keeps no state for a run.
        """

        async def deliver(raw: Any) -> None:
            message = message_of(raw)
            if not message.seq:
                self.problems.quarantine("a message that does not come from the store", raw.subject)
                return
            if message.headers.get("Nats-Last-Sequence", "0") not in (
                "0",
                str(self._through),
                str(max(self._seen, default=0)),
            ):
                self._missed.set()
            await self._enqueue(session, message)

        async with translated_errors():
            await session.client.subscribe(stored_subject(self.run_id), cb=self._guarded(deliver))
            await session.client.flush()
        since: float | None = session.broker_time() - EXPIRY_S
        check_at = 0.0
        while True:
            self._missed.clear()
            last = self._through
            async for message in read_all(
                session, control_subject(self.run_id), since=since, after=last, confirm=since is not None
            ):
                last = message.seq
                await self._enqueue(session, message)
            self._through, since = last, None
            self._seen = {seq for seq in self._seen if seq > last}
            self.problems.clear()
            if not session.has_streams and asyncio.get_running_loop().time() > check_at:
                session.has_streams = await ensure_streams(session, self._settings, owner=True)
                check_at = asyncio.get_running_loop().time() + COPIES_S
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._missed.wait(), CATCH_UP_S)

    def _guarded(self, deliver: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Quarantine a message that cannot be handled, and continue with the next."""

        async def guard(raw: Any) -> None:
            try:
                await deliver(raw)
            except SessionLost:
                self._missed.set()
            except Exception as error:  # noqa: BLE001 - whatever a stranger sends, it must not end the session
                self.problems.quarantine(f"a message that cannot be handled ({type(error).__name__})", raw.subject)

        return guard

    async def _enqueue(self, session: HubSession, message: HubMessage) -> None:
        if message.seq in self._seen or message.seq <= self._through:
            return
        self._seen.add(message.seq)
        self._arrivals.append(time.monotonic())
        if SEQ_HEADER in message.headers:
            # Our own message on the topic.
            return
        await session.age_of(message.time)
        try:
            signer = session.signing.check(message, "controller", fresh=True)
        except NotSigned as why:
            self.problems.quarantine(f"a request: {why}", message.subject, message.data)
            return
        actor = f"hub: {signer.name}" if signer.trusted else "hub"
        if not self._waiting.put(message.data, actor, _Copy(session, message, actor)):
            self.problems.quarantine("too many pending requests", message.subject, message.data)
            return
        # In another thread: the ACK is sent while the command is being executed.
        self._worker.submit(self._hand_over)

    def _hand_over(self) -> None:
        """Execute the next copy: cancels first, else in order of arrival."""
        while (copy := self._waiting.pop(cancels_only=self._is_flooded())) is None:
            if not self._is_flooded():
                return
            # Keep receiving before anything else is executed: a cancel may still come.
            time.sleep(LULL_S)
        session, message = copy.session, copy.message
        age = max(0.0, session.broker_time() - message.time)
        reply = HubReply(self, session, message.seq, message.headers.get(REPLY_HEADER))
        try:
            self._endpoint.receive(message.data, reply, age=age, actor=copy.actor)
        except InterlockError:
            # Not durable: retry the same copy until it is too old.
            if age <= EXPIRY_S:
                self._thread.loop.call_soon_threadsafe(self._thread.loop.call_later, TRY_AGAIN_S, self._again, copy)
        except Exception as error:
            log.warning("run %s: a request from the hub failed", self.run_id, exc_info=True)
            self.problems.quarantine(f"a request that cannot be handled ({type(error).__name__})", message.subject)

    def _note(self, note: TransportNoted) -> None:
        with contextlib.suppress(InterlockError):
            self._endpoint.post(note)

    def _is_flooded(self) -> bool:
        arrivals = self._arrivals
        return len(arrivals) == FLOOD and time.monotonic() - arrivals[0] < FLOOD_S

    def _again(self, copy: _Copy) -> None:
        with contextlib.suppress(RuntimeError):
            if self._waiting.put(copy.message.data, copy.actor, copy):
                self._worker.submit(self._hand_over)
