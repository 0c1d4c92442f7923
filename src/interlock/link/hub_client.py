"""HubClient: what other machines' runs are, and control of them."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import time
from typing import Any

import msgspec
from msgspec.structs import replace

from ..config.model import Hub as HubSettings
from ..control import (
    Ack,
    Answer,
    Controller,
    Found,
    LookUp,
    Moment,
    Request,
    Result,
    Transmit,
    decode_control,
    decode_current,
    status_of,
)
from ..core import InterlockError, Record
from .hub import (
    STREAM,
    Session,
    SessionLost,
    control_subject,
    current_subject,
    open_session,
    record_subject,
    telling,
)
from .loop import LoopThread
from .outbox import RemoteRun
from .owner import DEFAULT_TIMEOUT_S, Notice

MARGIN_S = 30.0
"""How much earlier than the first copy a request is looked for in the stream: clocks are never quite the same."""

RETRY_S = 0.5
"""Time between two tries to find a hub that has gone while an answer is waited for."""


class HubClient:
    """A connection for commands and screens. Thread-safe; use it with `with`."""

    def __init__(self, settings: HubSettings) -> None:
        self._settings = settings
        self._thread = LoopThread("hub client")
        try:
            self._session = self._thread.run(open_session(settings, "interlock"))
        except (InterlockError, SessionLost) as error:
            self._thread.close()
            raise error if isinstance(error, InterlockError) else _unreachable(error) from error

    def runs(self) -> list[RemoteRun]:
        """Every run that the hub knows, the newest first."""
        found: list[RemoteRun] = self._run(self._runs())
        return sorted(found, key=lambda run: run.summary.started, reverse=True)

    def ask(self, request: Request, *, timeout: float = DEFAULT_TIMEOUT_S, notice: Notice | None = None) -> Answer:
        """Send a request to a run, wherever it is, and wait for its one answer."""
        return self._thread.run(_Asking(self, request, timeout, notice or (lambda _: None)).run())

    def records(self, run_id: str, after: int = 0) -> list[Record]:
        """What the hub has of a run's journal beyond a sequence number, each record once."""
        found: list[Record] = self._run(self._records(run_id, after))
        return found

    def close(self) -> None:
        with contextlib.suppress(TimeoutError):
            self._thread.begin(self._session.client.close()).result(2)
        self._thread.close()

    def __enter__(self) -> HubClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def session(self) -> Session:
        """The session, made anew if it has broken."""
        if self._session.closed.is_set():
            self._session = await open_session(self._settings, "interlock")
        return self._session

    def _run(self, work: Any) -> Any:
        try:
            return self._thread.run(work)
        except SessionLost as error:
            raise _unreachable(error) from error

    async def _runs(self) -> list[RemoteRun]:
        session = await self.session()
        await session.set_clock()
        found = []
        async for message in read_all(session, "loop:summary.*", last_only=True):
            with contextlib.suppress(msgspec.DecodeError):
                run = msgspec.json.decode(message.data, type=RemoteRun)
                silent = max(0.0, session.broker_time() - message.metadata.timestamp.timestamp())
                found.append(replace(run, silent=silent))
        return found

    async def _records(self, run_id: str, after: int) -> list[Record]:
        found: dict[int, Record] = {}
        session = await self.session()
        async for message in read_all(session, record_subject(run_id)):
            record = msgspec.json.decode(message.data, type=Record)
            if record.seq > after:
                found[record.seq] = record
        return [found[seq] for seq in sorted(found)]


class _Asking:
    """One request over as many sessions as it takes."""

    def __init__(self, client: HubClient, request: Request, timeout: float, notice: Notice) -> None:
        self._client, self._notice = client, notice
        self._controller = Controller(request, timeout)
        self._run_id = request.target.run_id
        self._since: float | None = None
        self._sending: set[asyncio.Task[None]] = set()

    async def run(self) -> Answer:
        actions = self._controller.start(_now())
        while self._controller.answer is None:
            try:
                await self._talk(await self._client.session(), actions)
            except (SessionLost, InterlockError) as error:
                self._notice(f"the hub has gone ({error}); trying again")
                await asyncio.sleep(RETRY_S)
                actions = self._controller.tick(_now()) or self._controller.retry(_now())
                if actions == [LookUp()]:
                    self._controller.found(Found())
        return self._controller.answer

    async def _talk(self, session: Session, actions: list[Transmit | LookUp]) -> None:
        heard: asyncio.Queue[Any] = asyncio.Queue()
        async with telling():
            listening = await session.client.subscribe(control_subject(self._run_id), cb=heard.put)
        closing = asyncio.create_task(session.closed.wait())
        self._since = self._since or session.broker_time()
        await self._do(session, actions)
        checking = asyncio.create_task(self._check_ended(session, heard))
        try:
            while self._controller.answer is None:
                await self._hear(heard, closing)
                await self._do(session, self._controller.tick(_now()))
        finally:
            closing.cancel(), checking.cancel()
            with contextlib.suppress(SessionLost):
                async with telling():
                    await listening.unsubscribe()

    async def _hear(self, heard: asyncio.Queue[Any], closing: asyncio.Task[Any]) -> None:
        """Wait for a message, for time to pass, or for the session to end."""
        wake = self._controller.wake_at()
        hearing = asyncio.create_task(heard.get())
        left = max(0.0, wake - _now().steady) if wake is not None else 0.0
        await asyncio.wait({hearing, closing}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if hearing.done():
            message = hearing.result()
            if message is not None:
                self._controller.receive(bytes(message.data))
        else:
            hearing.cancel()
            if closing.done():
                raise SessionLost("the connection broke")

    async def _check_ended(self, session: Session, heard: asyncio.Queue[Any]) -> None:
        """A run that has ended has nobody who would say so."""
        with contextlib.suppress(SessionLost):
            if (await self._ask_status(session)).run_ended:
                self._controller.found(await self._look_up(session))
                heard.put_nowait(None)

    async def _do(self, session: Session, actions: list[Transmit | LookUp]) -> None:
        for action in actions:
            if isinstance(action, LookUp):
                self._controller.found(await self._look_up(session))
            else:
                task = asyncio.create_task(self._send(session, action))
                self._sending.add(task)
                task.add_done_callback(self._sending.discard)

    async def _send(self, session: Session, copy: Transmit) -> None:
        """Each copy has its own id: the broker must not swallow the one that should get the stored RESULT."""
        message_id = f"{self._controller.request.request_id}:{copy.attempt}"
        with contextlib.suppress(SessionLost):
            sent = await session.publish(control_subject(self._run_id), copy.data, message_id)
            await session.settle([sent])

    async def _look_up(self, session: Session) -> Found:
        """How the run is, then what the stream has of the request: a RESULT comes before the state that it causes."""
        found = await self._ask_status(session)
        since = (self._since or session.broker_time()) - MARGIN_S
        async for message in read_all(session, control_subject(self._run_id), since=since):
            answer = decode_control(bytes(message.data))
            if answer is None or answer.request_id != self._controller.request.request_id:
                continue
            if isinstance(answer, Ack):
                found = replace(found, accepted=True)
            elif isinstance(answer, Result) and answer.payload.code not in ("duplicate", "bad_request"):
                found = replace(found, result=bytes(message.data))
        return found

    async def _ask_status(self, session: Session) -> Found:
        last = await session.last(current_subject(self._run_id))
        event = decode_current(last.data) if last is not None and last.data else None
        return Found(run_status=status_of(event)) if event is not None else Found()


async def read_all(session: Session, subject: str, *, last_only: bool = False, since: float | None = None) -> Any:
    """Every message that the stream has of a subject now, or the last one of each subject."""
    from nats.js import api

    policy = api.DeliverPolicy.LAST_PER_SUBJECT if last_only else api.DeliverPolicy.ALL
    config = api.ConsumerConfig(
        deliver_policy=policy if since is None else api.DeliverPolicy.BY_START_TIME,
        opt_start_time=datetime.datetime.fromtimestamp(since, datetime.UTC) if since is not None else None,
        filter_subject=subject,
        ack_policy=api.AckPolicy.NONE,
        inactive_threshold=30.0,
        mem_storage=True,
    )
    arrived: asyncio.Queue[Any] = asyncio.Queue()
    inbox = session.client.new_inbox()
    async with telling():
        info = await session.stream.add_consumer(STREAM, config)
        listening = await session.client.subscribe(inbox, cb=arrived.put)
        left = info.num_pending or 0
    want = msgspec.json.encode({"batch": max(1, left), "no_wait": True})
    try:
        async with telling():
            await session.client.publish(f"$JS.API.CONSUMER.MSG.NEXT.{STREAM}.{info.name}", want, inbox)
        while left > 0:
            try:
                message = await asyncio.wait_for(arrived.get(), 5)
            except TimeoutError:
                raise SessionLost("the hub does not answer") from None
            if (message.headers or {}).get("Status"):
                return
            left -= 1
            yield message
    finally:
        async with telling():
            await listening.unsubscribe()
            await session.stream.delete_consumer(STREAM, info.name)


def _unreachable(error: SessionLost) -> InterlockError:
    return InterlockError(f"the hub does not answer ({error})", todo="Try again when it is back.")


def _now() -> Moment:
    return Moment(time.time(), time.monotonic())
