"""Upstream: the model's API. Connections are kept and used again, as the agent's own client would."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import SplitResult, urlsplit

import httpcore
from msgspec import Struct

from .client_connection import Headers
from .route import CONNECT_S, PORTS, Route
from .upstream_connection import UpstreamClosed, UpstreamConnection, UpstreamResponse

HOP_BY_HOP = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    )
)
"""Headers that belong to one connection, not to the request."""

KEPT_S = 60.0

Trouble = (
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)
"""What goes wrong on the way to the model's API."""

Origin = tuple[str, str, int]


class Upstream:
    """Sends requests on. Thread-safe."""

    def __init__(self) -> None:
        self._ways: dict[Origin, Route] = {}
        self._idle: list[_Idle] = []
        self._lock = threading.Lock()

    @contextmanager
    def ask(
        self, method: str, url: str, headers: Headers, body: bytes, before_wait: Callable[[], None]
    ) -> Iterator[UpstreamResponse]:
        """The answer as it begins; its body is still to come. `before_wait` is called when there is no more as yet."""
        parts = urlsplit(url)
        origin = (parts.scheme, parts.hostname or "", parts.port or PORTS.get(parts.scheme, 80))
        route, line = self._route(origin), self._take_idle(origin)
        request, head_only = _request(route, method, parts, headers, body), method == "HEAD"
        try:
            # No limit on reading: a model may think for as long as the client waits.
            if line is not None:
                try:
                    line.ask(request, CONNECT_S, head_only=head_only)
                except (UpstreamClosed, httpcore.NetworkError):
                    # Closed in the very moment that it was used again.
                    line.close()
                    line = None
            if line is None:
                line = route.connect()
                line.ask(request, CONNECT_S, head_only=head_only)
            yield UpstreamResponse(line, before_wait)
        finally:
            if line is not None:
                self._put_back(origin, line)

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for one in idle:
            one.line.close()

    def _route(self, origin: Origin) -> Route:
        with self._lock:
            if origin not in self._ways:
                self._ways[origin] = Route(*origin)
            return self._ways[origin]

    def _take_idle(self, origin: Origin) -> UpstreamConnection | None:
        """The connection that was used last, of those that are still open."""
        oldest = time.monotonic() - KEPT_S
        with self._lock:
            over = [one for one in self._idle if one.since < oldest]
            self._idle = [one for one in self._idle if one.since >= oldest]
            found: UpstreamConnection | None = None
            while found is None and (last := next((o for o in reversed(self._idle) if o.origin == origin), None)):
                self._idle.remove(last)
                if last.line.stale:
                    over.append(last)
                else:
                    found = last.line
        for one in over:
            one.line.close()
        return found

    def _put_back(self, origin: Origin, line: UpstreamConnection) -> None:
        if not line.idle:
            line.close()
            return
        with self._lock:
            self._idle.append(_Idle(origin, line, time.monotonic()))


class _Idle(Struct, eq=False):
    origin: Origin
    line: UpstreamConnection
    since: float


OURS = frozenset((b"host", b"content-length"))


def _request(route: Route, method: str, parts: SplitResult, headers: Headers, body: bytes) -> bytes:
    lines = [f"{method} {route.target(parts)} HTTP/1.1".encode("latin-1")]
    lines.append(b"host: " + parts.netloc.rpartition("@")[2].encode())
    lines += [b"%b: %b" % (key, value) for key, value in headers if key not in HOP_BY_HOP and key not in OURS]
    lines += [b"%b: %b" % one for one in route.headers]
    if body or method in ("POST", "PUT", "PATCH"):
        lines.append(b"content-length: %d" % len(body))
    return b"\r\n".join([*lines, b"", body])
