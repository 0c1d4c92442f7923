"""One session with the hub, a NATS JetStream server; its subjects; and an event loop in a thread."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import datetime
import re
import threading
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from ..core import BadInput, InterlockError, boot_clock, from_json
from .hub_signing import SEQ_HEADER, HubMessage, Signing

STREAM = "INTERLOCK"
RUNS_STREAM = "INTERLOCK_RUNS"
"""One row per run: listing all runs reads this whole stream."""

ANSWER_S = 5.0
OVERHEAD = 1024
"""Bytes of the server's limit that are left for headers and subject."""

REPLY_HEADER = "Interlock-Reply"
"""Where the sender of a REQUEST listens: answers are sent there directly, besides the topic."""

INBOXES = "_INBOX."
"""The prefix of reply subjects. Nothing is published to other subjects that a request names."""

CLOCK_DOUBT_S = 5.0
"""A message whose time is off by more than this makes us read the broker's time again: its clock may have stepped."""


class SessionLost(Exception):
    """Raised when the hub is gone or fails; a new session may work."""


class NobodyAnswers(SessionLost):
    """Raised when no server answers this request: it has no JetStream, or no server has the stream right now."""


def control_subject(run_id: str) -> str:
    return f"loop:control.{token_of(run_id)}"


def stored_subject(run_id: str) -> str:
    """Where the server republishes each message of loop:control as soon as it is stored."""
    return f"stored:control.{token_of(run_id)}"


def current_subject(run_id: str) -> str:
    return f"loop:current.{token_of(run_id)}"


def record_subject(run_id: str) -> str:
    return f"loop:record.{token_of(run_id)}"


def run_subject(run_id: str) -> str:
    return f"loop:run.{token_of(run_id)}"


def token_of(run_id: str) -> str:
    """A run id as one token of a subject: other characters are written as =XX."""
    return re.sub(r"[^A-Za-z0-9_-]", lambda found: "".join(f"={byte:02X}" for byte in found[0].encode()), run_id)


class HubSession:
    """One connection, until it breaks."""

    def __init__(self, client: Any, closed: asyncio.Event, signing: Signing, url: str) -> None:
        self.client, self.closed, self.signing, self.url = client, closed, signing, url
        self.stream: Any = client.jetstream(timeout=ANSWER_S)
        self.has_streams = False
        """Whether the streams are complete, with all their replicas."""
        self.max_body = max(1, client.max_payload - OVERHEAD)
        """The most bytes of a message's body."""
        self._offset = 0.0
        self._clock_read = -CLOCK_DOUBT_S

    def broker_time(self) -> float:
        """Now by the broker's clock, which is the one that ages count by."""
        return boot_clock() + self._offset

    async def set_clock(self) -> None:
        """Read the broker's time, as our own wall clock may be wrong or step."""
        before = boot_clock()
        answer = from_json(await self.request(f"$JS.API.STREAM.INFO.{STREAM}"), _Info)
        if not answer.ts:
            raise SessionLost(f"the hub does not have its stream ({answer.error.get('description', 'no reason')})")
        middle = (before + boot_clock()) / 2
        self._offset, self._clock_read = parse_time(answer.ts) - middle, middle

    async def age_of(self, stored_at: float) -> float:
        """How long ago the broker stored a message; reads its clock again if that is implausible."""
        if abs(self.broker_time() - stored_at) > CLOCK_DOUBT_S and boot_clock() - self._clock_read > 1:
            await self.set_clock()
        return max(0.0, self.broker_time() - stored_at)

    async def request(self, subject: str, data: bytes = b"") -> bytes:
        async with translated_errors():
            answer = await self.client.request(subject, data, timeout=ANSWER_S)
        return bytes(answer.data)

    async def api(self, name: str, body: object) -> Any:
        """One call of the JetStream API; the caller handles an `error` in the answer."""
        return from_json(await self.request(f"$JS.API.{name}", msgspec.json.encode(body)), dict)

    async def publish(self, subject: str, data: bytes, message_id: str, **headers: str) -> Any:
        """Publish a signed message, in order; returns a future for the broker's acknowledgement."""
        if len(data) > self.max_body:
            raise BadInput(f"a message of {len(data):,} bytes is too long", where=self.url,
                           todo=f"The hub takes {self.max_body:,} bytes: raise max_payload of its server.")  # fmt: skip
        signed = self.signing.headers(subject, data, self.broker_time(), headers.get(SEQ_HEADER, ""))
        async with translated_errors():
            return await self.stream.publish_async(
                subject, data, headers={"Nats-Msg-Id": message_id, **headers, **signed}
            )

    async def reply(self, inbox: str, subject: str, data: bytes) -> None:
        """Also send a topic's message directly to a listener; the broker does not store it."""
        if inbox.startswith(INBOXES) and not re.search(r"[*>\s]", inbox) and len(inbox) < 300:
            headers = self.signing.headers(subject, data, self.broker_time())
            async with translated_errors():
                await self.client.publish(inbox, data, headers=headers or None)

    async def settle(self, acknowledgements: list[Any]) -> list[Any]:
        """Wait until the broker has stored everything."""
        async with translated_errors():
            return list(await asyncio.wait_for(asyncio.gather(*acknowledgements), ANSWER_S))

    async def get(self, stream: str, **which: object) -> HubMessage | None:
        """One message from the stream's leader, as a replica may not have it yet; None if there is none."""
        answer = await self.api(f"STREAM.MSG.GET.{stream}", which)
        error = answer.get("error")
        if error is not None:
            if error.get("code") == 404:
                return None
            raise SessionLost(f"the hub cannot read ({error.get('description')})")
        found = answer["message"]
        headers = parse_headers(base64.b64decode(found.get("hdrs", "")).partition(b"\r\n")[2])
        data = base64.b64decode(found.get("data", ""))
        return HubMessage(found["subject"], data, headers, int(found["seq"]), parse_time(found["time"]))

    async def close(self) -> None:
        """Close, without waiting for a server that does not answer."""
        with contextlib.suppress(TimeoutError, OSError):
            await asyncio.wait_for(self.client.close(), ANSWER_S)


class _Info(Struct):
    ts: str = ""
    error: dict[str, Any] = {}


def parse_time(text: str) -> float:
    """The broker's RFC 3339, with nanoseconds, as seconds."""
    return datetime.datetime.fromisoformat(text).timestamp()


def message_of(message: Any) -> HubMessage:
    """A message from nats-py, with its sequence number and time if it comes from the stream."""
    headers = {str(getattr(key, "value", key)): str(value) for key, value in (message.headers or {}).items()}
    seq, taken = headers.get("Nats-Sequence", ""), headers.get("Nats-Time-Stamp", "")
    if not seq.isdecimal() or not taken:
        return HubMessage(message.subject, bytes(message.data), headers)
    subject = headers.get("Nats-Subject", message.subject)
    return HubMessage(subject, bytes(message.data), headers, int(seq), parse_time(taken))


def parse_headers(raw: bytes) -> dict[str, str]:
    """The headers of a message. Much faster than nats-py, which checks each letter of a name for blanks."""
    lines = raw.decode("utf-8", "replace").split("\r\n")
    pairs = ((name.strip(), value.strip()) for name, mark, value in (line.partition(":") for line in lines) if mark)
    return {name: value for name, value in pairs if name.isascii() and len(name.split()) == 1}


@contextlib.asynccontextmanager
async def translated_errors() -> AsyncIterator[None]:
    """Turn every failure of the hub into SessionLost, with its reason."""
    import nats.errors
    import nats.js.errors

    try:
        yield
    except InterlockError:
        raise
    except (nats.errors.Error, OSError, TimeoutError, asyncio.CancelledError) as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        nobody = isinstance(error, (nats.errors.NoRespondersError, nats.js.errors.NoStreamResponseError))
        raise (NobodyAnswers if nobody else SessionLost)(reason_of(error)) from error


def reason_of(error: BaseException) -> str:
    """Why the hub failed, in words."""
    import nats.errors
    import nats.js.errors

    if isinstance(error, nats.js.errors.APIError):
        return f"the hub rejected it: {error.description or error.code}"
    if isinstance(error, (nats.errors.NoRespondersError, nats.js.errors.NoStreamResponseError)):
        return "no server of the hub has the stream right now"
    if isinstance(error, (nats.errors.TimeoutError, TimeoutError)):
        return f"no reply within {ANSWER_S:.0f} s"
    if isinstance(error, asyncio.CancelledError):
        return "the connection broke"
    return str(error).removeprefix("nats: ") or type(error).__name__


Made = TypeVar("Made")


class LoopThread:
    """Runs coroutines in a thread of its own. `close` cancels what is still running."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def begin(self, work: Coroutine[object, object, Made]) -> Future[Made]:
        """Start a coroutine on the session's event loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def run(self, work: Coroutine[object, object, Made], timeout: float | None = None) -> Made:
        """Run a coroutine to its end."""
        return self.begin(work).result(timeout)

    def close(self) -> None:
        """Stop; a second time does nothing."""
        if self.loop.is_closed():
            return
        if self._thread.is_alive():
            self.begin(self._cancel_all()).result()
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()
        self.loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    async def _cancel_all(self) -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
