"""Upstream: connections to the model's API, direct or through the user's proxy; idle ones are reused."""

from __future__ import annotations

import base64
import os
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore
from msgspec import Struct

from .client_connection import Headers
from .upstream_connection import UpstreamClosed, UpstreamConnection, UpstreamResponse

HOP_BY_HOP = frozenset((
    b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te", b"trailer",
    b"transfer-encoding", b"upgrade",
))  # fmt: skip
"""Headers that belong to one connection, not to the request."""

KEPT_S = 60.0

UPSTREAM_ERRORS = (
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)
"""Errors on the way to the model's API."""

Origin = tuple[str, str, int]


class Upstream:
    """Forwards requests. Thread-safe."""

    def __init__(self) -> None:
        self._routes: dict[Origin, Route] = {}
        self._idle: list[_Idle] = []
        self._lock = threading.Lock()

    @contextmanager
    def ask(
        self, method: str, url: str, headers: Headers, body: bytes, before_wait: Callable[[], None]
    ) -> Iterator[UpstreamResponse]:
        """Send a request; returns the answer without its body. `before_wait` is called before waiting for more data."""
        parts = urlsplit(url)
        origin = (parts.scheme, parts.hostname or "", parts.port or PORTS.get(parts.scheme, 80))
        route, line = self._route(origin), self._reuse_idle(origin)
        request, head_only = _request(route, method, parts, headers, body), method == "HEAD"
        try:
            # No read timeout: a model may think for as long as the client waits.
            if line is not None:
                try:
                    line.ask(request, CONNECT_S, head_only=head_only)
                except (UpstreamClosed, httpcore.NetworkError):
                    # It was closed just when it was reused.
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
            if origin not in self._routes:
                self._routes[origin] = Route(*origin)
            return self._routes[origin]

    def _reuse_idle(self, origin: Origin) -> UpstreamConnection | None:
        """The most recently used connection that is still open."""
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


CONNECT_S = 30.0
PORTS = {"http": 80, "https": 443}
CA_BUNDLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
"""Variables with additional certificates."""

MOST_HEAD = 65_536


class Route:
    """The route to one server."""

    def __init__(self, scheme: str, host: str, port: int) -> None:
        if scheme not in PORTS:
            raise httpcore.UnsupportedProtocol(f"{scheme}:// is not the address of an API")
        self._scheme, self._host, self._port = scheme, host, port
        proxies = getproxies()
        proxy = "" if proxy_bypass(host) else proxies.get(scheme) or proxies.get("all") or ""
        self._proxy = urlsplit(proxy) if proxy else None
        self._trusted: ssl.SSLContext | None = None

    @property
    def proxied(self) -> bool:
        """Whether another proxy is in between."""
        return self._proxy is not None

    def connect(self) -> UpstreamConnection:
        """A new connection."""
        stream = self.reach()
        return UpstreamConnection(self._secure(stream, self._host) if self._scheme == "https" else stream)

    def reach(self, address: str | None = None) -> httpcore.NetworkStream:
        """A new connection without TLS to the host, or to the given address of it."""
        backend = httpcore.SyncBackend()
        host, port = address or self._host, self._port
        if self._proxy is not None:
            host, port = self._proxy.hostname or "", self._proxy.port or PORTS.get(self._proxy.scheme, 80)
        stream = backend.connect_tcp(host, port, CONNECT_S)
        if self._proxy is not None:
            if self._proxy.scheme == "https":
                stream = self._secure(stream, host)
            if self._scheme == "https":
                self._tunnel(stream, self._proxy)
        return stream

    def target(self, parts: SplitResult) -> str:
        """The request target: a proxy without a tunnel needs the whole URL."""
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return f"{parts.scheme}://{_host_and_port(parts)}{path}" if self._proxy and self._scheme == "http" else path

    @property
    def headers(self) -> Headers:
        """Headers for a proxy without a tunnel."""
        return _credentials(self._proxy) if self._proxy and self._scheme == "http" else []

    def _secure(self, stream: httpcore.NetworkStream, host: str) -> httpcore.NetworkStream:
        self._trusted = self._trusted or _trusted()
        return stream.start_tls(self._trusted, host, CONNECT_S)

    def _tunnel(self, stream: httpcore.NetworkStream, proxy: SplitResult) -> None:
        host = f"[{self._host}]" if ":" in self._host else self._host
        authority = f"{host}:{self._port}".encode()
        lines = [b"CONNECT %b HTTP/1.1" % authority, b"host: %b" % authority]
        lines += [b"%b: %b" % one for one in _credentials(proxy)]
        stream.write(b"\r\n".join(lines) + b"\r\n\r\n", CONNECT_S)
        head = b""
        while b"\r\n\r\n" not in head:
            more = stream.read(READ_TUNNEL, CONNECT_S)
            head += more
            if not more or len(head) > MOST_HEAD:
                raise httpcore.ProxyError("the proxy does not respond")
        status = head.split(b"\r\n", 1)[0].decode("latin-1").partition(" ")[2]
        if not status.startswith("2"):
            raise httpcore.ProxyError(status)


READ_TUNNEL = 4096


def _host_and_port(parts: SplitResult) -> str:
    """Host and port, without credentials."""
    return parts.netloc.rpartition("@")[2]


def _credentials(proxy: SplitResult) -> Headers:
    if proxy.username is None:
        return []
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return [(b"proxy-authorization", b"Basic " + base64.b64encode(pair.encode()))]


def _trusted() -> ssl.SSLContext:
    context = ssl.create_default_context()
    for variable in CA_BUNDLES:
        file = os.environ.get(variable, "")
        if file and Path(file).is_file():
            context.load_verify_locations(file)
    if not context.cert_store_stats()["x509_ca"]:
        import certifi

        context.load_verify_locations(certifi.where())
    return context
