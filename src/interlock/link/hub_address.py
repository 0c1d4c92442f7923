"""A hub's address, and whether somebody answers there right now: a glance before a run that will keep trying anyway."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from ..core import BadInput

GLANCE_S = 1.0
PORT = 4222
SCHEMES = ("nats", "tls")


def check_url(url: str | None) -> str:
    """The hub's address; a password has no place in it, because others can read the command line."""
    if not url:
        raise BadInput("no hub is configured", todo="Give --hub nats://host:port or set hub.url.")
    try:
        parts = urlsplit(url if "://" in url else f"nats://{url}")
        reachable = parts.scheme in SCHEMES and parts.hostname and parts.port != 0
    except ValueError:
        reachable = False
    if not reachable:
        # Without what may be a password.
        raise BadInput(f"{url.rpartition('@')[2]!r} is no hub", todo="Use nats://host:port or tls://host:port.")
    if parts.username or parts.password:
        raise BadInput("the hub's address has credentials in it", todo="Set hub.credentials_file or hub.token_file.")
    return parts.geturl()


def look_for_hub(url: str) -> str | None:
    """Why nobody answers at a checked address; None where somebody does."""
    parts = urlsplit(url)
    host, port = parts.hostname, parts.port or PORT
    try:
        socket.create_connection((host, port), GLANCE_S).close()
    except OSError as error:
        return f"{host}:{port}: {error.strerror or error}"
    return None
