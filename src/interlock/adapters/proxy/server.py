"""ProxyServer: accepts the connections of a run's agent, and routes each request to its API."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from urllib.parse import urlsplit

import msgspec

from .client_connection import Acceptor, ClientConnection, ClientGone, ClientRequest, Headers
from .environment import Proxied
from .own_requests import why_refused
from .upstream import HOP_BY_HOP, PORTS, UPSTREAM_ERRORS, Upstream
from .upstream_connection import UpstreamResponse

MOST_CONNECTIONS = 256
"""Simultaneous connections, each with a thread; an agent with many subagents has some dozens."""

Refused = Callable[[str, int, str], None]
"""Called with the host and port of a request that did not pass, and why."""


def ignore(host: str, port: int, why: str) -> None:
    """Report nothing."""


ClientHandler = Callable[[ClientConnection, ClientRequest, str], None]
"""Answers a request to this URL."""


class ProxyServer:
    """Serves a given listening socket, with a thread for each connection.

    The APIs are behind /TOKEN/NAME: without the token nothing is reachable.
    """

    def __init__(
        self, listener: socket.socket, proxied: Proxied, answer: ClientHandler, on_refused: Refused = ignore
    ) -> None:
        self._proxied, self._answer, self._on_refused = proxied, answer, on_refused
        self._connections: set[ClientConnection] = set()
        self._lock = threading.Lock()
        self._acceptor = Acceptor(listener, self._accept, "proxy")

    def open(self) -> None:
        self._acceptor.start()

    def close(self) -> None:
        """Accept no more requests, and cut those under way."""
        self._acceptor.close()
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            connection.hang_up()

    def route(self, target: str) -> tuple[str, str] | None:
        """The API that a request is for, and its path and query there; None if it is not for us."""
        path, mark, query = target.partition("?")
        start, token, name, rest = (*path.split("/", 3), "", "", "")[:4]
        if start or token != self._proxied.token or name not in self._proxied.upstreams:
            return None
        return name, f"{rest}{mark}{query}"

    def _accept(self, sock: socket.socket) -> None:
        connection = ClientConnection(sock)
        with self._lock:
            self._connections.add(connection)
            idle = [each for each in self._connections if each.waiting_since and each is not connection]
            crowded = len(self._connections) > MOST_CONNECTIONS
        if crowded:
            # The connection that has been idle longest is closed; if all are busy, the new one is.
            min(idle, key=lambda each: each.waiting_since, default=connection).hang_up()
        self._acceptor.serve(lambda: self._serve(connection))

    def _serve(self, connection: ClientConnection) -> None:
        """Serve one connection."""
        try:
            while (asked := connection.receive()) is not None:
                self._route_request(connection, asked)
                if not connection.reusable:
                    return
        except (ClientGone, *UPSTREAM_ERRORS):
            # The client has hung up or does not speak HTTP, or the API's answer broke off.
            return
        finally:
            with self._lock:
                self._connections.discard(connection)
            connection.close()

    def _route_request(self, connection: ClientConnection, asked: ClientRequest) -> None:
        routed = self.route(asked.target)
        if routed is None:
            connection.answer(404, "application/json", msgspec.json.encode({"error": {"message": "not found"}}))
            return
        api, rest = routed
        url = f"{self._proxied.upstreams[api]}/{rest}"
        if self._proxied.fenced and (why := why_refused(self._proxied, api, rest, asked)):
            parts = urlsplit(url)
            self._on_refused(parts.hostname or "", parts.port or PORTS.get(parts.scheme, 443), why)
            words = f"interlock: the fence blocked this request: {why}"
            connection.answer(403, "application/json", msgspec.json.encode({"error": {"message": words}}))
            return
        for given, key in self._proxied.keys.get(api, {}).items():
            # The agent has a worthless key; replace it with the real one, for its own API only.
            headers = [(name, value.replace(given.encode(), key.encode())) for name, value in asked.headers]
            asked, url = msgspec.structs.replace(asked, headers=headers), url.replace(given, key)
        try:
            self._answer(connection, asked, url)
        except UPSTREAM_ERRORS as error:
            if connection.begun:
                connection.flush()
                raise
            say_unreachable(connection, url, error)


def relay(client: ClientConnection, upstream: Upstream, asked: ClientRequest, url: str) -> None:
    """Forward a request and its answer unchanged."""
    with upstream.ask(asked.method, url, asked.headers, asked.body, client.flush) as response:
        begin(client, response)
        for data in response.stream:
            client.write(data)
        client.end()


def begin(client: ClientConnection, response: UpstreamResponse) -> None:
    """Forward the head of the answer."""
    client.begin(response.status, kept_headers(response), response.reason)


def kept_headers(response: UpstreamResponse, *, body_changed: bool = False) -> Headers:
    """The answer's headers without those of the connection, and without those of a changed body."""
    dropped = HOP_BY_HOP | OF_BODY if body_changed else HOP_BY_HOP
    return [(key, value) for key, value in response.headers if key.lower() not in dropped]


OF_BODY = frozenset((b"content-length", b"content-encoding", b"content-md5", b"digest"))


def say_unreachable(client: ClientConnection, url: str, error: Exception) -> None:
    """Report that the API cannot be reached, as a server error so that the client retries."""
    where = urlsplit(url).hostname
    words = f"interlock: {where} cannot be reached ({type(error).__name__}: {error})"
    body = {"type": "error", "error": {"type": "api_error", "message": words, "code": 502}}
    client.answer(502, "application/json", msgspec.json.encode(body))
