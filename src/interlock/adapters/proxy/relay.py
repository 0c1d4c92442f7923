"""Relay: hands a request on and its answer back, byte for byte."""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec

from .client_connection import ClientConnection, ClientRequest, Headers
from .upstream import HOP_BY_HOP, Upstream
from .upstream_connection import UpstreamResponse


def relay(client: ClientConnection, upstream: Upstream, asked: ClientRequest, url: str) -> None:
    """Everything as it is."""
    with upstream.ask(asked.method, url, asked.headers, asked.body, client.flush) as response:
        begin(client, response)
        for data in response.stream:
            client.write(data)
        client.end()


def begin(client: ClientConnection, response: UpstreamResponse) -> None:
    """The head of the answer as it came."""
    client.begin(response.status, kept_headers(response), response.reason)


def kept_headers(response: UpstreamResponse, *, body_changed: bool = False) -> Headers:
    """The answer's headers without those of the connection; those of the body's bytes only where they still hold."""
    dropped = HOP_BY_HOP | OF_BODY if body_changed else HOP_BY_HOP
    return [(key, value) for key, value in response.headers if key.lower() not in dropped]


OF_BODY = frozenset((b"content-length", b"content-encoding", b"content-md5", b"digest"))


def say_unreachable(client: ClientConnection, url: str, error: Exception) -> None:
    """What a client gets when there is no way to the API; it reads like a server's trouble, so that it tries again."""
    where = urlsplit(url).hostname
    words = f"interlock: {where} cannot be reached ({type(error).__name__}: {error})"
    body = {"type": "error", "error": {"type": "api_error", "message": words, "code": 502}}
    client.answer(502, "application/json", msgspec.json.encode(body))
