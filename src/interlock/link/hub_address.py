"""A hub's addresses, and whether one of them answers now: checked before a run, which keeps trying anyway."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from ..core import BadInput

CONNECT_S = 1.0
"""How long a connection may take to open."""

PORT = 4222
SCHEMES = ("nats", "tls")


def check_urls(text: str | None) -> list[str]:
    """The hub's addresses; without passwords, because others can read the command line."""
    urls = [_check(part.strip()) for part in (text or "").split(",") if part.strip()]
    if not urls:
        raise BadInput("no hub is configured", todo="Use --hub nats://host:port or set hub.url.")
    if len({urlsplit(url).scheme for url in urls}) > 1:
        raise BadInput("the hub's addresses mix nats:// and tls://", todo="Use tls:// for all of them, or for none.")
    return urls


def _check(url: str) -> str:
    try:
        parts = urlsplit(url if "://" in url else f"nats://{url}")
        reachable = parts.scheme in SCHEMES and parts.hostname and parts.port != 0
    except ValueError:
        reachable = False
    if not reachable:
        # Do not repeat what may be a password.
        raise BadInput(
            f"{url.rpartition('@')[2]!r} is not a hub address", todo="Use nats://host:port or tls://host:port."
        )
    if parts.username or parts.password:
        raise BadInput("the hub's address has credentials in it", todo="Set hub.credentials_file or hub.token_file.")
    return parts.geturl()


def find_hub_problem(urls: list[str]) -> str | None:
    """Why none of the checked addresses answers; None if one does."""
    problems = []
    for url in urls:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or PORT
        try:
            socket.create_connection((host, port), CONNECT_S).close()
            return None
        except OSError as error:
            problems.append(f"{host}:{port}: {error.strerror or error}")
    return "; ".join(problems)
