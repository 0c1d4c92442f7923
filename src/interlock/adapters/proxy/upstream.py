"""Upstream: the model's API. Connections are kept and used again, as the agent's own client would."""

from __future__ import annotations

import logging
import os
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore

from .wire import Headers

# What it says in detail would have headers in it.
logging.getLogger("httpcore").setLevel(logging.WARNING)

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

CONNECT_S = 30.0
KEPT_S = 60.0
CA_BUNDLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
"""Where people tell their programs of certificates of their own."""

Trouble = (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, httpcore.UnsupportedProtocol)
"""What goes wrong on the way to the model's API."""


class Upstream:
    """Sends requests on. Thread-safe."""

    def __init__(self) -> None:
        self._ways: dict[tuple[str, str], httpcore.ConnectionPool] = {}
        self._lock = threading.Lock()

    @contextmanager
    def ask(self, method: str, url: str, headers: Headers, body: bytes) -> Iterator[httpcore.Response]:
        """The answer as it begins; its body is still to come."""
        parts = urlsplit(url)
        kept = [(key, value) for key, value in headers if key not in HOP_BY_HOP and key not in OURS]
        kept.append((b"host", parts.netloc.rpartition("@")[2].encode()))
        if body or method in ("POST", "PUT", "PATCH"):
            kept.append((b"content-length", b"%d" % len(body)))
        # No limit on reading: a model may think for as long as the client waits.
        limits = {"connect": CONNECT_S, "write": CONNECT_S, "pool": CONNECT_S}
        request = httpcore.Request(method, url, headers=kept, content=body, extensions={"timeout": limits})
        response = self._pool(parts.scheme, parts.hostname or "").handle_request(request)
        try:
            yield response
        finally:
            response.close()

    def close(self) -> None:
        for pool in self._ways.values():
            pool.close()

    def _pool(self, scheme: str, host: str) -> httpcore.ConnectionPool:
        with self._lock:
            if (scheme, host) not in self._ways:
                proxies = getproxies()
                way = "" if proxy_bypass(host) else proxies.get(scheme) or proxies.get("all") or ""
                self._ways[scheme, host] = _new_pool(way)
            return self._ways[scheme, host]


OURS = frozenset((b"host", b"content-length"))


def _new_pool(way: str) -> httpcore.ConnectionPool:
    context = ssl.create_default_context()
    for variable in CA_BUNDLES:
        file = os.environ.get(variable, "")
        if file and Path(file).is_file():
            context.load_verify_locations(file)
    if not context.cert_store_stats()["x509_ca"]:
        import certifi

        context.load_verify_locations(certifi.where())
    if way:
        return httpcore.HTTPProxy(way, ssl_context=context, max_connections=100, keepalive_expiry=KEPT_S)
    return httpcore.ConnectionPool(context, max_connections=100, keepalive_expiry=KEPT_S)
