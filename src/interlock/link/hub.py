"""The hub: one session with a NATS JetStream server, and the one stream that everything goes through."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import re
import socket
import ssl
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec

from ..config.model import Hub as HubSettings
from ..core import BadInput, InterlockError
from ..core.decoding import from_json
from .hub_address import check_url

STREAM = "INTERLOCK"
OLDEST_SERVER = (2, 12)
"""Older servers ignore options that we need, and say nothing."""

MAX_AGE_S = 24 * 3600.0
"""How long the hub keeps messages: far longer than the window of a stored RESULT."""

DEDUP_S = 300.0
CONNECT_S = 5.0
ANSWER_S = 5.0
SEND_TIMEOUT_MS = 20_000
"""How long the kernel may try to get bytes across. A copy of a request must not arrive when its window is over."""

SEQ_HEADER = "Interlock-Seq"
REPLY_HEADER = "Interlock-Reply"
"""Where the sender of a REQUEST listens: answers go there too, on the short way, besides the topic."""


class SessionLost(Exception):
    """Raised when the hub has gone, or does not answer; a new session may find it again."""


def control_subject(run_id: str) -> str:
    return f"loop:control.{token_of(run_id)}"


def current_subject(run_id: str) -> str:
    return f"loop:current.{token_of(run_id)}"


def record_subject(run_id: str) -> str:
    return f"loop:record.{token_of(run_id)}"


def summary_subject(run_id: str) -> str:
    return f"loop:summary.{token_of(run_id)}"


SUBJECTS = ["loop:control.*", "loop:current.*", "loop:record.*", "loop:summary.*"]


def token_of(run_id: str) -> str:
    """A run id as one token of a subject: whatever a subject cannot hold is written as =XX."""
    return re.sub(r"[^A-Za-z0-9_-]", lambda found: "".join(f"={byte:02X}" for byte in found[0].encode()), run_id)


class HubSession:
    """One connection, from when it is made to when it breaks."""

    def __init__(self, client: Any, closed: asyncio.Event) -> None:
        self.client = client
        self.closed = closed
        self.stream: Any = client.jetstream(timeout=ANSWER_S)
        self._offset = 0.0

    def broker_time(self) -> float:
        """Now by the broker's clock: ages count by that one alone."""
        return _boot_time() + self._offset

    async def set_clock(self) -> None:
        """Learn the broker's time. Our own wall clock may be wrong, or may step."""
        before = _boot_time()
        answer = await self.request(f"$JS.API.STREAM.INFO.{STREAM}")
        middle = (before + _boot_time()) / 2
        told = from_json(answer, _Info).ts
        self._offset = datetime.datetime.fromisoformat(told).timestamp() - middle

    async def request(self, subject: str, data: bytes = b"") -> bytes:
        async with telling():
            answer = await self.client.request(subject, data, timeout=ANSWER_S)
        return bytes(answer.data)

    async def publish(self, subject: str, data: bytes, message_id: str, **headers: str) -> Any:
        """Publish, and give what the broker's acknowledgement can be awaited with. The order of calls is kept."""
        async with telling():
            return await self.stream.publish_async(subject, data, headers={"Nats-Msg-Id": message_id, **headers})

    async def reply(self, subject: str, data: bytes) -> None:
        """Send to somebody who listens now; the broker does not keep it."""
        async with telling():
            await self.client.publish(subject, data)

    async def settle(self, acknowledgements: list[Any]) -> list[Any]:
        """Wait until the broker has everything."""
        async with telling():
            return list(await asyncio.wait_for(asyncio.gather(*acknowledgements), ANSWER_S))

    async def last(self, subject: str) -> Any | None:
        """The newest message of a subject."""
        from nats.js.errors import NotFoundError

        async with telling():
            try:
                return await self.stream.get_last_msg(STREAM, subject, direct=True)
            except NotFoundError:
                return None


class _Info(msgspec.Struct):
    ts: str


@contextlib.asynccontextmanager
async def telling() -> AsyncIterator[None]:
    """Every way in which the hub can fail us becomes one."""
    import nats.errors

    try:
        yield
    except (nats.errors.Error, OSError, TimeoutError, asyncio.CancelledError) as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        raise SessionLost(str(error) or type(error).__name__) from error


async def open_session(settings: HubSettings, name: str, *, no_echo: bool = False) -> HubSession:
    """Connect, see that the server is new enough, and that the stream is there. InterlockError says what is wrong."""
    try:
        import nats
        import nats.errors
    except ImportError:
        raise InterlockError("the hub needs nats-py", todo='Install "interlock[hub]".') from None
    url = check_url(settings.url)
    closed = asyncio.Event()

    async def on_closed() -> None:
        closed.set()

    problems = ["no answer"]

    async def on_error(error: Exception) -> None:
        """Kept for the message: what the call raises in the end says less."""
        problems.append(str(error) or type(error).__name__)

    try:
        connecting = nats.connect(
            url,
            name=name,
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            no_echo=no_echo,
            connect_timeout=int(CONNECT_S),
            ping_interval=10,
            max_outstanding_pings=2,
            closed_cb=on_closed,
            error_cb=on_error,
            **credentials(settings),
        )
        client = await asyncio.wait_for(connecting, 2 * CONNECT_S)
    except (nats.errors.Error, OSError, TimeoutError) as error:
        raise InterlockError(
            f"the hub cannot be reached ({problems[-1]})", where=url, todo="Check hub.url and its credentials."
        ) from error
    session = HubSession(client, closed)
    try:
        _check_version(client, url)
        _bound_sending(client)
        await _ensure_stream(session, url)
        await session.set_clock()
    except (InterlockError, SessionLost):
        await client.close()
        raise
    return session


def credentials(settings: HubSettings) -> dict[str, object]:
    """What nats-py takes, from files alone."""
    found: dict[str, object] = {}
    if settings.credentials_file:
        found["user_credentials"] = _existing(settings.credentials_file, "hub.credentials_file")
    if settings.token_file:
        found["token"] = Path(_existing(settings.token_file, "hub.token_file")).read_text().strip()
    if settings.tls:
        unknown = set(settings.tls) - {"ca_file", "cert_file", "key_file"}
        if unknown:
            raise BadInput(f"hub.tls has no {sorted(unknown)[0]!r}", todo="Known: ca_file, cert_file, key_file.")
        files = {key: _existing(path, f"hub.tls.{key}") for key, path in settings.tls.items()}
        context = ssl.create_default_context(cafile=files.get("ca_file"))
        if "cert_file" in files:
            context.load_cert_chain(files["cert_file"], files.get("key_file"))
        found["tls"] = context
    return found


def _existing(path: str, key: str) -> str:
    full = Path(path).expanduser()
    if not full.is_file():
        raise BadInput(f"there is no file {path}", where=key)
    return str(full)


def _check_version(client: Any, url: str) -> None:
    told = client.connected_server_version
    if (told.major, told.minor) < OLDEST_SERVER:
        raise InterlockError(
            f"the hub's server is {told.major}.{told.minor}.{told.patch}, which is too old",
            where=url,
            todo="Use nats-server 2.12 or newer.",
        )


def _bound_sending(client: Any) -> None:
    """Keep the kernel from delivering minutes later what we have given up on."""
    writer = getattr(getattr(client, "_transport", None), "_bare_io_writer", None)
    sock = writer.get_extra_info("socket") if writer is not None else None
    if sock is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SEND_TIMEOUT_MS)


async def _ensure_stream(session: HubSession, url: str) -> None:
    from nats.js import api
    from nats.js.errors import APIError, BadRequestError, NotFoundError, ServiceUnavailableError

    wanted = api.StreamConfig(
        name=STREAM,
        subjects=SUBJECTS,
        retention=api.RetentionPolicy.LIMITS,
        storage=api.StorageType.FILE,
        max_age=MAX_AGE_S,
        duplicate_window=DEDUP_S,
        allow_direct=True,
    )
    async with telling():
        try:
            found = (await session.stream.stream_info(STREAM)).config
        except NotFoundError:
            try:
                found = (await session.stream.add_stream(wanted)).config
            except BadRequestError:
                # Somebody else made it just now.
                found = (await session.stream.stream_info(STREAM)).config
        except (ServiceUnavailableError, APIError) as error:
            raise InterlockError(f"the hub has no JetStream ({error})", where=url, todo="Start it with -js.") from error
    if set(SUBJECTS) - set(found.subjects or ()) or found.retention != api.RetentionPolicy.LIMITS:
        raise InterlockError(
            f"the hub's stream {STREAM} is not ours", where=url, todo="Remove it, or use another account."
        )


def _boot_time() -> float:
    """A clock that never steps and goes on while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
