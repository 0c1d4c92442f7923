"""The proxy without supervision, which the front starts when no owner can be started.

Its arguments are LISTENER and GATE, with a JSON line on stdin. Fails open: everything is
forwarded unchanged, but a paused run stays paused by the gate file.
"""

from __future__ import annotations

import signal
import socket
import sys
import time
from pathlib import Path

from ...core import InterlockError, from_json
from ...link import read_gate
from .client_connection import ClientConnection, ClientGone, ClientRequest
from .environment import Proxied
from .server import ProxyServer, relay
from .upstream import Upstream

POLL_S = 0.2


class Passthrough:
    """Forwards requests while the gate is open."""

    def __init__(self, gate: Path) -> None:
        self._gate, self._upstream = gate, Upstream()

    def answer(self, client: ClientConnection, asked: ClientRequest, url: str) -> None:
        while self._is_shut():
            time.sleep(POLL_S)
            if client.is_gone():
                raise ClientGone
        relay(client, self._upstream, asked, url)

    def _is_shut(self) -> bool:
        try:
            gate = read_gate(self._gate)
        except (InterlockError, OSError):
            return True
        return gate is not None and gate.shut


def main() -> None:
    """Serve until we are ended."""
    listener = socket.socket(fileno=int(sys.argv[1]))
    proxied = from_json(sys.stdin.buffer.readline(), Proxied)
    ProxyServer(listener, proxied, Passthrough(Path(sys.argv[2])).answer).open()
    signal.pause()
