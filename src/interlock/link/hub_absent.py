"""AbsentRuns: answers requests on the hub for runs that have ended or are unknown."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from typing import Any

from ..config import Hub as HubSettings
from ..control import (
    EXPIRY_S,
    Malformed,
    Request,
    Result,
    ResultPayload,
    decode_control,
    decode_current,
    decode_request,
    encode,
    status_of,
)
from ..control import format_time as utc
from ..core import InterlockError
from .hub_connect import keep_session
from .hub_session import REPLY_HEADER, HubSession, LoopThread, SessionLost, message_of, translated_errors
from .hub_signing import SEQ_HEADER, HubMessage
from .hub_streams import is_signed, read_all, read_newest

GROUP = "interlock-absent"
"""Listeners in this group share the work: only one of them answers."""

GRACE_S = 0.5
"""How long we leave it to the run's own owner to answer; one that has just ended still does."""

UNKNOWN_GRACE_S = 2.0
"""How long an unknown run may take to appear: it may just be starting."""

REQUESTS = "loop:control.*"
STORED = "stored:control.*"
MOST = 500
"""Requests handled at a time; the senders of others ask again."""

BACK_OFF_S = 2.0
HISTORY_S = 330.0
"""How far back to search for a RESULT of the same request: its window, and a margin."""


class AbsentRuns:
    """Listens to every request on the hub. Requests to a live run are left to it, even if its owner is gone:
    then the controller reports an unknown outcome."""

    def __init__(self, settings: HubSettings) -> None:
        self._settings = settings
        self._thread = LoopThread("hub absent")
        self._tasks: set[asyncio.Task[None]] = set()
        self.problem = "not connected yet"
        self.answered = 0

    def start(self) -> None:
        """Start in the background; a hub that is not reachable yet is retried."""
        self._thread.begin(
            keep_session(self._settings, "interlock serve", self._listen, self._set_problem, (BACK_OFF_S, BACK_OFF_S))
        )

    def close(self) -> None:
        self._thread.close()

    def _set_problem(self, problem: str) -> None:
        self.problem = problem

    async def _listen(self, session: HubSession) -> None:
        def hear(message: HubMessage, *, is_new: bool = True) -> None:
            if SEQ_HEADER in message.headers or len(self._tasks) >= MOST:
                # An answer, not a request; or too many.
                return
            task = asyncio.create_task(self._handle_message(session, message, is_new))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        async def deliver(raw: Any) -> None:
            with contextlib.suppress(ValueError):
                message = message_of(raw)
                if message.seq:
                    hear(message)

        async with translated_errors():
            await session.client.subscribe(STORED, queue=GROUP, cb=deliver)
            await session.client.flush()
        # Requests that came before we listened and are not too old to be answered.
        async for message in read_all(session, REQUESTS, since=session.broker_time() - EXPIRY_S):
            hear(message, is_new=False)
        self.problem = ""
        await session.closed.wait()

    async def _handle_message(self, session: HubSession, message: HubMessage, is_new: bool) -> None:
        request = decode_request(message.data)
        if not isinstance(request, Request | Malformed) or not is_signed(session, message, "controller"):
            return
        token, inbox = message.subject.rpartition(".")[2], message.headers.get(REPLY_HEADER)
        with contextlib.suppress(SessionLost, InterlockError):
            await asyncio.sleep(GRACE_S)
            status = await self._status(session, token)
            if status == "unknown":
                await asyncio.sleep(UNKNOWN_GRACE_S)
                status = await self._status(session, token)
            if status not in ("done", "aborted", "unknown"):
                return
            stored = await self._stored(session, message.subject, request.request_id)
            if stored is not None and not is_new:
                return
            body = stored or encode(_refuse(request, status))
            if inbox is not None:
                await session.reply(inbox, message.subject, body)
            if stored is None:
                headers = {SEQ_HEADER: "0"}
                sent = await session.publish(message.subject, body, os.urandom(12).hex(), **headers)
                await session.settle([sent])
            self.answered += 1

    async def _status(self, session: HubSession, token: str) -> str:
        last = await read_newest(session, f"loop:current.{token}", "owner")
        event = decode_current(last.data) if last is not None and last.data else None
        return status_of(event) if event is not None else "unknown"

    async def _stored(self, session: HubSession, subject: str, request_id: str) -> bytes | None:
        """The stored RESULT of this request: a sender that asks again gets it again, byte for byte."""
        found = None
        async for message in read_all(session, subject, since=session.broker_time() - HISTORY_S, confirm=True):
            answer = decode_control(message.data)
            if (
                isinstance(answer, Result)
                and answer.request_id == request_id
                and answer.payload.code != "duplicate"
                and is_signed(session, message, "owner")
            ):
                found = message.data
        return found


def _refuse(request: Request | Malformed, status: str) -> Result:
    if isinstance(request, Malformed):
        payload = ResultPayload(status="failure", code="bad_request", message=request.problem)
    else:
        run_id = request.target.run_id
        words = f"the hub has no run {run_id}" if status == "unknown" else f"the run has ended ({status})"
        payload = ResultPayload(status="failure", code="not_found", message=words)
    return Result(
        schema=0,
        request_id=request.request_id,
        command=request.command,
        target=request.target,
        timestamp=utc(time.time()),
        payload=payload,
        batch_id=request.batch_id if isinstance(request, Request) else None,
    )
