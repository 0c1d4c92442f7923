"""HubRequest: one request to a run on the hub, over as many sessions as it takes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..control import (
    Ack,
    ClockReading,
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
from ..core import InterlockError
from ..core.decoding import json_decoder
from .hub import REPLY_HEADER, HubSession, SessionLost, control_subject, current_subject, telling
from .owner_client import Notice
from .stream_reading import read_all

RETRY_S = 0.5
"""Time between two tries to find a hub that has gone while an answer is waited for."""

DOUBT_S = 0.3
"""No answer for this long: perhaps the run has ended, and nobody is there to say so."""

MARGIN_S = 30.0
"""How much earlier than the first copy a request is looked for in the stream: clocks are never quite the same."""


class ReplyListener:
    """A session, and who listens on it. Whoever asked under an id hears all about that id."""

    def __init__(self, session: HubSession) -> None:
        self.session = session
        self.inbox = session.client.new_inbox()
        self._listeners: dict[str, list[asyncio.Queue[bytes | None]]] = {}
        self._subjects: set[str] = set()
        self._watch = asyncio.create_task(self._tell_end())

    async def listen(self, request_id: str, run_id: str) -> asyncio.Queue[bytes | None]:
        """Where the messages about one request come: None is the end of the session."""
        for subject in (self.inbox, control_subject(run_id)):
            if subject not in self._subjects:
                self._subjects.add(subject)
                async with telling():
                    await self.session.client.subscribe(subject, cb=self._hear)
        heard: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._listeners.setdefault(request_id, []).append(heard)
        return heard

    def forget(self, request_id: str, heard: asyncio.Queue[bytes | None]) -> None:
        self._listeners[request_id].remove(heard)
        if not self._listeners[request_id]:
            del self._listeners[request_id]

    async def _hear(self, message: Any) -> None:
        try:
            request_id = _id_decoder.decode(message.data).request_id
        except msgspec.DecodeError:
            return
        for heard in self._listeners.get(request_id or "", ()):
            heard.put_nowait(bytes(message.data))

    async def _tell_end(self) -> None:
        await self.session.closed.wait()
        for listeners in self._listeners.values():
            for heard in listeners:
                heard.put_nowait(None)


class HubRequest:
    """One request on its way."""

    def __init__(
        self, line: Callable[[], Awaitable[ReplyListener]], request: Request, timeout: float, notice: Notice
    ) -> None:
        self._line, self._notice = line, notice
        self._controller = RequestClient(request, timeout)
        self._request_id, self._run_id = request.request_id, request.target.run_id
        self._since: float | None = None

    async def run(self) -> RequestOutcome:
        actions = self._controller.start(_now())
        while self._controller.answer is None:
            try:
                await self._talk(await self._line(), actions)
            except (SessionLost, InterlockError) as error:
                self._notice(f"the hub has gone ({error}); trying again")
                await asyncio.sleep(RETRY_S)
                actions = self._controller.tick(_now()) or self._controller.retry(_now())
                if actions == [LookUp()]:
                    self._controller.found(RequestRecord())
        return self._controller.answer

    async def _talk(self, line: ReplyListener, actions: list[Transmit | LookUp]) -> None:
        """Send and listen until there is an answer, or the session ends."""
        heard = await line.listen(self._request_id, self._run_id)
        self._since = self._since or line.session.broker_time()
        doubt_at: float | None = _now().steady + DOUBT_S
        try:
            await self._do(line, actions)
            while self._controller.answer is None:
                wake = min(self._controller.wake_at() or 0.0, doubt_at or float("inf"))
                await self._hear(heard, max(0.0, wake - _now().steady))
                if self._controller.answer is None and doubt_at is not None and _now().steady >= doubt_at:
                    doubt_at = None
                    await self._check_ended(line.session)
                await self._do(line, self._controller.tick(_now()))
        finally:
            line.forget(self._request_id, heard)

    async def _hear(self, heard: asyncio.Queue[bytes | None], seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                message = await heard.get()
        except TimeoutError:
            return
        if message is None:
            raise SessionLost("the connection broke")
        self._controller.receive(message)

    async def _do(self, line: ReplyListener, actions: list[Transmit | LookUp]) -> None:
        for action in actions:
            if isinstance(action, LookUp):
                self._controller.found(await self._look_up(line.session))
            else:
                # Each copy has its own id: the broker must not swallow the one that should get the stored RESULT.
                message_id, headers = f"{self._request_id}:{action.attempt}", {REPLY_HEADER: line.inbox}
                subject = control_subject(self._run_id)
                taken = await line.session.publish(subject, action.data, message_id, **headers)
                taken.add_done_callback(_forget_outcome)

    async def _check_ended(self, session: HubSession) -> None:
        """A run that has ended may have nobody who would say so."""
        if (await self._ask_status(session)).run_ended:
            self._controller.found(await self._look_up(session))

    async def _look_up(self, session: HubSession) -> RequestRecord:
        """How the run is, then what the stream has of the request: a RESULT comes before the state that it causes."""
        found = await self._ask_status(session)
        since = (self._since or session.broker_time()) - MARGIN_S
        async for message in read_all(session, control_subject(self._run_id), since=since):
            answer = decode_control(bytes(message.data))
            if answer is None or answer.request_id != self._request_id:
                continue
            if isinstance(answer, Ack):
                found = replace(found, accepted=True)
            elif isinstance(answer, Result) and answer.payload.code not in ("duplicate", "bad_request"):
                found = replace(found, result=bytes(message.data))
        return found

    async def _ask_status(self, session: HubSession) -> RequestRecord:
        last = await session.last(current_subject(self._run_id))
        event = decode_current(last.data) if last is not None and last.data else None
        return RequestRecord(run_status=status_of(event)) if event is not None else RequestRecord()


class _Id(Struct):
    request_id: str | None = None


_id_decoder = json_decoder(_Id)


def _forget_outcome(taken: asyncio.Future[Any]) -> None:
    """Whether the broker took a copy shows in the answer; an error here must only not be left unread."""
    if not taken.cancelled():
        taken.exception()


def _now() -> ClockReading:
    return ClockReading(time.time(), time.monotonic())
