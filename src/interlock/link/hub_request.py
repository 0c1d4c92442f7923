"""HubRequest: one request to a run on the hub, over as many sessions as needed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..control import (
    Ack,
    LookUp,
    Request,
    RequestClient,
    RequestOutcome,
    RequestRecord,
    Result,
    Transmit,
    decode_control,
    decode_current,
    status_of,
)
from ..core import BadInput, InterlockError, json_decoder
from .hub_session import (
    REPLY_HEADER,
    HubSession,
    SessionLost,
    control_subject,
    current_subject,
    message_of,
    reason_of,
    translated_errors,
)
from .hub_signing import NotSigned
from .hub_streams import is_signed, read_all, read_newest
from .live_clock import now
from .owner_client import Notice

RETRY_S = (0.5, 3.0)
"""Time between two attempts to reach a hub that disappeared while we wait for an answer: at first, and later."""

DOUBT_S = 0.3
"""After this long without an answer, check whether the run has ended without an owner to say so."""

HISTORY_S = 330.0
"""How far back to search for a RESULT: as long as it is stored, and a margin."""

STORED_S = 5.0
"""How long the hub may take to store a copy; then another server is tried."""


class ReplyListener:
    """A session and its listeners: each gets the messages about its request that the run's owner signed."""

    def __init__(self, session: HubSession) -> None:
        self.session = session
        self.inbox = session.client.new_inbox()
        self._listeners: dict[str, list[ReplyQueue]] = {}
        self._subjects: set[str] = set()
        self._watch = asyncio.create_task(self._end_queues())

    async def listen(self, request_id: str, run_id: str) -> ReplyQueue:
        """Receive the messages about one request; None marks the end of the session."""
        for subject in (self.inbox, control_subject(run_id)):
            if subject not in self._subjects:
                self._subjects.add(subject)
                async with translated_errors():
                    await self.session.client.subscribe(subject, cb=self._receive)
        replies = ReplyQueue(control_subject(run_id))
        self._listeners.setdefault(request_id, []).append(replies)
        return replies

    def forget(self, request_id: str, replies: ReplyQueue) -> None:
        self._listeners[request_id].remove(replies)
        if not self._listeners[request_id]:
            del self._listeners[request_id]

    async def _receive(self, raw: Any) -> None:
        try:
            ids = _id_decoder.decode(raw.data)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return
        for replies in self._listeners.get(ids.request_id or "", ()):
            if ids.type == "REQUEST":
                continue
            try:
                self.session.signing.check(message_of(raw), "owner", replies.subject)
            except NotSigned as why:
                replies.refused = str(why)
            else:
                replies.queue.put_nowait(bytes(raw.data))

    async def _end_queues(self) -> None:
        await self.session.closed.wait()
        for listeners in self._listeners.values():
            for replies in listeners:
                replies.queue.put_nowait(None)


class ReplyQueue:
    """The messages about one request; `refused` is why an answer was rejected."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self.queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.refused = ""
        self.broken = ""

    def fail(self, why: str) -> None:
        self.broken = why
        self.queue.put_nowait(None)


class HubRequest:
    """One request."""

    def __init__(
        self, connect: Callable[[], Awaitable[ReplyListener]], request: Request, timeout: float, notice: Notice
    ) -> None:
        self._connect, self._notice = connect, notice
        self._controller = RequestClient(request, timeout)
        self._request_id, self._run_id = request.request_id, request.target.run_id
        self._token = os.urandom(12).hex()
        self._refused = ""
        self._waiting: set[asyncio.Task[None]] = set()

    async def run(self) -> RequestOutcome:
        actions = self._controller.start(now())
        pause = RETRY_S[0]
        while self._controller.answer is None:
            try:
                await self._exchange(await self._connect(), actions)
            except BadInput:
                raise
            except (SessionLost, InterlockError) as error:
                self._notice(f"the hub is gone ({error}); trying again")
                await asyncio.sleep(pause)
                pause = min(RETRY_S[1], pause * 1.5)
                actions = self._controller.tick(now()) or self._controller.retry(now())
                if actions == [LookUp()]:
                    self._controller.found(RequestRecord())
        answer = self._controller.answer
        if answer.outcome != "unknown":
            return answer
        # The hub may lack later messages.
        words = answer.message.replace("the run is", "as far as the hub knows, the run is")
        if self._refused:
            words += f"; a reply was received but not accepted: {self._refused}"
        return replace(answer, message=words)

    async def _exchange(self, listener: ReplyListener, actions: list[Transmit | LookUp]) -> None:
        """Send and listen until there is an answer, or the session ends."""
        replies = await listener.listen(self._request_id, self._run_id)
        doubt_at: float | None = now().steady + DOUBT_S
        try:
            await self._do(listener, actions, replies)
            while self._controller.answer is None:
                wake = min(self._controller.wake_at() or 0.0, doubt_at or float("inf"))
                await self._receive(replies, max(0.0, wake - now().steady))
                if self._controller.answer is None and doubt_at is not None and now().steady >= doubt_at:
                    doubt_at = None
                    await self._check_ended(listener.session)
                await self._do(listener, self._controller.tick(now()), replies)
        finally:
            self._refused = replies.refused or self._refused
            listener.forget(self._request_id, replies)

    async def _receive(self, replies: ReplyQueue, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                message = await replies.queue.get()
        except TimeoutError:
            return
        if message is None:
            raise SessionLost(replies.broken or "the connection broke")
        self._controller.receive(message)

    async def _do(self, listener: ReplyListener, actions: list[Transmit | LookUp], replies: ReplyQueue) -> None:
        for action in actions:
            if isinstance(action, LookUp):
                self._controller.found(await self._look_up(listener.session))
            else:
                # The signature contains the broker's time, whose clock may have stepped.
                await listener.session.set_clock()
                # Each copy has its own id, or the broker would drop the one that should get the stored RESULT.
                message_id, headers = f"{self._token}:{action.attempt}", {REPLY_HEADER: listener.inbox}
                subject = control_subject(self._run_id)
                stored = await listener.session.publish(subject, action.data, message_id, **headers)
                self._waiting.add(asyncio.create_task(self._await_stored(listener, stored, replies)))

    async def _await_stored(self, listener: ReplyListener, stored: asyncio.Future[Any], replies: ReplyQueue) -> None:
        """Leave a server that does not store a copy, or hangs, for another one of the hub."""
        try:
            await asyncio.wait_for(stored, STORED_S)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever the reason, it goes to whoever waits
            replies.fail(reason_of(error))
            await listener.session.close()

    async def _check_ended(self, session: HubSession) -> None:
        """Check whether the run has ended, as it may have no owner to say so."""
        if (await self._ask_status(session)).run_ended:
            self._controller.found(await self._look_up(session))

    async def _look_up(self, session: HubSession) -> RequestRecord:
        """The run's state, then what the stream has of the request: a RESULT precedes the state that it causes."""
        found = await self._ask_status(session)
        since = session.broker_time() - HISTORY_S
        async for message in read_all(session, control_subject(self._run_id), since=since, confirm=True):
            answer = decode_control(message.data)
            if answer is None or answer.request_id != self._request_id or not is_signed(session, message, "owner"):
                continue
            if isinstance(answer, Ack):
                found = replace(found, accepted=True)
            elif isinstance(answer, Result) and answer.payload.code not in ("duplicate", "bad_request"):
                found = replace(found, result=message.data)
        return found

    async def _ask_status(self, session: HubSession) -> RequestRecord:
        last = await read_newest(session, current_subject(self._run_id), "owner")
        event = decode_current(last.data) if last is not None and last.data else None
        return RequestRecord(run_status=status_of(event)) if event is not None else RequestRecord()


class _Id(Struct):
    request_id: str | None = None
    type: str | None = None


_id_decoder = json_decoder(_Id)
