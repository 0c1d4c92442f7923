"""Connecting to the hub: tries its addresses in turn, with TLS if requested and credentials from files."""

from __future__ import annotations

import asyncio
import logging
import random
import socket
import ssl
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from ..config import Hub as HubSettings
from ..core import BadInput, InterlockError, MissingExtra, read_small
from .hub_address import check_urls
from .hub_session import HubSession, SessionLost, parse_headers, reason_of
from .hub_signing import Signing
from .hub_streams import ensure_streams

log = logging.getLogger("interlock")

OLDEST_SERVER = (2, 12)
"""Older servers silently ignore options that we need."""

CONNECT_S = 5.0
PING_S = 10
"""A connection with two unanswered pings is broken: its server may hang."""

SEND_TIMEOUT_MS = 20_000
"""How long the kernel may retransmit. A copy of a request must not arrive after its window."""


async def open_session(settings: HubSettings, name: str, *, no_echo: bool = False, owner: bool = False) -> HubSession:
    """Connect to the first address that works; raises InterlockError with each reason if none does.

    An `owner` also brings existing streams up to date.
    """
    if find_spec("nats") is None:
        raise MissingExtra("the hub's client is", "hub")
    urls, signing = check_urls(settings.url), Signing.from_settings(settings)
    # Start with a random one: a server that hangs must not delay everybody.
    first = random.randrange(len(urls))
    problems: list[InterlockError] = []
    for url in urls[first:] + urls[:first]:
        try:
            return await _open_at(url, settings, signing, name, no_echo, owner)
        except BadInput:
            raise
        except SessionLost as lost:
            problems.append(InterlockError(f"the hub does not respond ({lost})", where=url))
        except InterlockError as error:
            problems.append(error)
    if len(problems) == 1:
        raise problems[0]
    raise InterlockError(
        "no server of the hub can be used: " + "; ".join(f"{problem.where}: {problem.what}" for problem in problems),
        todo=problems[-1].todo,
    )


async def keep_session(
    settings: HubSettings,
    name: str,
    live: Callable[[HubSession], Awaitable[None]],
    on_problem: Callable[[str], None],
    pauses: tuple[float, float],
) -> NoReturn:
    """Have one session as an owner after the other, whatever ends each of them; reports why there is none.

    `pauses` are the time between two attempts: at first, and later.
    """
    clock, (least, most) = asyncio.get_running_loop().time, pauses
    pause = least
    while True:
        started = clock()
        try:
            session = await open_session(settings, name, owner=True)
            try:
                await live(session)
            finally:
                await session.close()
            on_problem("the hub is gone")
        except (InterlockError, SessionLost) as error:
            on_problem(str(error) or "the hub is gone")
        except Exception as error:
            log.warning("%s: the session with the hub failed", name, exc_info=True)
            on_problem(f"the session failed ({type(error).__name__}: {error})")
        if clock() - started > 2 * most:
            pause = least
        await asyncio.sleep(pause)
        pause = min(most, pause * 2)


async def _open_at(
    url: str, settings: HubSettings, signing: Signing, name: str, no_echo: bool, owner: bool
) -> HubSession:
    import nats.errors

    closed = asyncio.Event()

    async def on_closed() -> None:
        closed.set()

    problems: list[str] = []

    async def on_error(error: Exception) -> None:
        """Keep the error for our message, as the final exception says less."""
        problems.append(reason_of(error))

    client = _encrypted_client(is_tls=url.startswith("tls:") or bool(settings.tls))
    try:
        connecting = client.connect(
            url,
            name=name,
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            no_echo=no_echo,
            connect_timeout=int(CONNECT_S),
            ping_interval=PING_S,
            max_outstanding_pings=2,
            closed_cb=on_closed,
            error_cb=on_error,
            **credentials(settings, signing),
        )
        await asyncio.wait_for(connecting, 2 * CONNECT_S)
    except (nats.errors.Error, OSError, TimeoutError) as error:
        if client._transport is not None:
            # Closing a client that was never connected does not close its socket.
            client._transport.close()
        why = problems[-1] if problems else reason_of(error)
        raise InterlockError(
            f"the hub cannot be reached ({why})", where=url, todo="Check hub.url and its credentials."
        ) from error
    session = HubSession(client, closed, signing, url)
    try:
        _check_version(client, url)
        _bound_sending(client)
        session.has_streams = await ensure_streams(session, settings, owner=owner)
        await session.set_clock()
    except (InterlockError, SessionLost) as error:
        await session.close()
        refused = next((problem for problem in problems if "ermissions" in problem), None)
        if refused and isinstance(error, SessionLost):
            raise InterlockError(f"the hub rejected this key ({refused})", where=url,
                                 todo="Ask its administrator to run: interlock hub config") from error  # fmt: skip
        raise
    return session


def _encrypted_client(*, is_tls: bool) -> Any:
    """A client that, if TLS was requested, sends nothing to a server without it."""
    import nats.errors
    from nats.aio.client import Client

    class EncryptedClient(Client):
        def _connect_command(self) -> bytes:
            writer = getattr(self._transport, "_io_writer", None)
            if is_tls and (writer is None or writer.get_extra_info("ssl_object") is None):
                raise nats.errors.Error("the server does not use TLS")
            return bytes(super()._connect_command())

        @staticmethod
        def _parse_header_lines(raw: bytes) -> dict[str, str]:
            return parse_headers(raw)

    return EncryptedClient()


def credentials(settings: HubSettings, signing: Signing) -> dict[str, object]:
    """The authentication and TLS options for nats-py, read from files."""
    found: dict[str, object] = {}
    own = signing.ring.own
    if settings.credentials_file:
        found["user_credentials"] = _existing(settings.credentials_file, "hub.credentials_file")
    elif own is not None:
        found["nkeys_seed_str"] = own.seed
    if own is not None:
        # Only this key may listen here, by the permissions that `interlock hub config` gives it.
        found["inbox_prefix"] = f"_INBOX.{own.public}"
    if settings.token_file:
        found["token"] = read_small(_existing(settings.token_file, "hub.token_file"), links=True).decode().strip()
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
    version = client.connected_server_version
    if (version.major, version.minor) < OLDEST_SERVER:
        raise InterlockError(
            f"the hub's server is {version.major}.{version.minor}.{version.patch}, which is too old",
            where=url,
            todo="Use nats-server 2.12 or newer.",
        )


def _bound_sending(client: Any) -> None:
    """Prevent the kernel from delivering a message minutes after we gave up on it."""
    writer = getattr(getattr(client, "_transport", None), "_bare_io_writer", None)
    sock = writer.get_extra_info("socket") if writer is not None else None
    if sock is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SEND_TIMEOUT_MS)
