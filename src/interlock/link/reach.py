"""Whether a hub can be reached right now: a glance before a run that will keep trying anyway."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

GLANCE_S = 1.0
PORT = 4222
SCHEMES = ("nats", "tls")


def look_for_hub(url: str) -> str | None:
    """Why nobody answers at this address; None where somebody does, or where a glance cannot tell."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or PORT
    except ValueError:
        return None
    if parts.scheme not in SCHEMES or not host:
        return None
    try:
        socket.create_connection((host, port), GLANCE_S).close()
    except OSError as error:
        # Without the address as it was given: that may hold a password.
        return f"{host}:{port}: {error.strerror or error}"
    return None
