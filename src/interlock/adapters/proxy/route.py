"""Route: how the model's API is reached, straight or by a proxy that the user's environment names."""

from __future__ import annotations

import base64
import os
import ssl
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore

from .client_connection import Headers
from .upstream_connection import UpstreamConnection

CONNECT_S = 30.0
PORTS = {"http": 80, "https": 443}
CA_BUNDLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
"""Where people tell their programs of certificates of their own."""

MOST_HEAD = 65_536


class Route:
    """To one server."""

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
        """Whether the way leads by another proxy."""
        return self._proxy is not None

    def connect(self) -> UpstreamConnection:
        """A new connection."""
        stream = self.reach()
        return UpstreamConnection(self._secure(stream, self._host) if self._scheme == "https" else stream)

    def reach(self, address: str | None = None) -> httpcore.NetworkStream:
        """A new connection without TLS of its own, to this address of the host if one is given."""
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
        """What is asked for: a proxy without a tunnel needs the whole address."""
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return f"{parts.scheme}://{_bare(parts)}{path}" if self._proxy and self._scheme == "http" else path

    @property
    def headers(self) -> Headers:
        """What a proxy without a tunnel needs with every request."""
        return _credentials(self._proxy) if self._proxy and self._scheme == "http" else []

    def _secure(self, stream: httpcore.NetworkStream, host: str) -> httpcore.NetworkStream:
        self._trusted = self._trusted or _trusted()
        return stream.start_tls(self._trusted, host, CONNECT_S)

    def _tunnel(self, stream: httpcore.NetworkStream, proxy: SplitResult) -> None:
        host = f"[{self._host}]" if ":" in self._host else self._host
        place = f"{host}:{self._port}".encode()
        lines = [b"CONNECT %b HTTP/1.1" % place, b"host: %b" % place]
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


def _bare(parts: SplitResult) -> str:
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
