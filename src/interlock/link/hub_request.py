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
    telling,
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
        self._listeners: dict[str, list[Hearing]] = {}
        self._subjects: set[str] = set()
        self._watch = asyncio.create_task(self._tell_end())

    async def listen(self, request_id: str, run_id: str) -> Hearing:
        """Receive the messages about one request; None marks the end of the session."""
        for subject in (self.inbox, control_subject(run_id)):
            if subject not in self._subjects:
                self._subjects.add(subject)
                async with telling():
                    await self.session.client.subscribe(subject, cb=self._hear)
        heard = Hearing(control_subject(run_id))
        self._listeners.setdefault(request_id, []).append(heard)
        return heard

    def forget(self, request_id: str, heard: Hearing) -> None:
        self._listeners[request_id].remove(heard)
        if not self._listeners[request_id]:
            del self._listeners[request_id]

    async def _hear(self, raw: Any) -> None:
        try:
            told = _id_decoder.decode(raw.data)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return
        for heard in self._listeners.get(told.request_id or "", ()):
            if told.type == "REQUEST":
                continue
            try:
                self.session.signing.check(message_of(raw), "owner", heard.subject)
            except NotSigned as why:
                heard.refused = str(why)
            else:
                heard.queue.put_nowait(bytes(raw.data))

    async def _tell_end(self) -> None:
        await self.session.closed.wait()
        for listeners in self._listeners.values():
            for heard in listeners:
                heard.queue.put_nowait(None)


class Hearing:
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
        self, line: Callable[[], Awaitable[ReplyListener]], request: Request, timeout: float, notice: Notice
    ) -> None:
        self._line, self._notice = line, notice
        self._controller = RequestClient(request, timeout)
        self._request_id, self._run_id = request.request_id, request.target.run_id
        self._token = os.urandom(12).hex()
        self._refused = ""
        self._watching: set[asyncio.Task[None]] = set()

    async def run(self) -> RequestOutcome:
        actions = self._controller.start(now())
        pause = RETRY_S[0]
        while self._controller.answer is None:
            try:
                await self._exchange(await self._line(), actions)
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

    async def _exchange(self, line: ReplyListener, actions: list[Transmit | LookUp]) -> None:
        """Send and listen until there is an answer, or the session ends."""
        heard = await line.listen(self._request_id, self._run_id)
        doubt_at: float | None = now().steady + DOUBT_S
        try:
            await self._do(line, actions, heard)
            while self._controller.answer is None:
                wake = min(self._controller.wake_at() or 0.0, doubt_at or float("inf"))
                await self._hear(heard, max(0.0, wake - now().steady))
                if self._controller.answer is None and doubt_at is not None and now().steady >= doubt_at:
                    doubt_at = None
                    await self._check_ended(line.session)
                await self._do(line, self._controller.tick(now()), heard)
        finally:
            self._refused = heard.refused or self._refused
            line.forget(self._request_id, heard)

    async def _hear(self, heard: Hearing, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                message = await heard.queue.get()
        except TimeoutError:
            return
        if message is None:
            raise SessionLost(heard.broken or "the connection broke")
        self._controller.receive(message)

    async def _do(self, line: ReplyListener, actions: list[Transmit | LookUp], heard: Hearing) -> None:
        for action in actions:
            if isinstance(action, LookUp):
                self._controller.found(await self._look_up(line.session))
            else:
                # The signature contains the broker's time, whose clock may have stepped.
                await line.session.set_clock()
                # Each copy has its own id, or the broker would drop the one that should get the stored RESULT.
                message_id, headers = f"{self._token}:{action.attempt}", {REPLY_HEADER: line.inbox}
                subject = control_subject(self._run_id)
                stored = await line.session.publish(subject, action.data, message_id, **headers)
                self._watching.add(asyncio.create_task(self._await_stored(line, stored, heard)))

    async def _await_stored(self, line: ReplyListener, stored: asyncio.Future[Any], heard: Hearing) -> None:
        """Leave a server that does not store a copy, or hangs, for another one of the hub."""
        try:
            await asyncio.wait_for(stored, STORED_S)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever the reason, it goes to whoever waits
            heard.fail(reason_of(error))
            await line.session.close()

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
