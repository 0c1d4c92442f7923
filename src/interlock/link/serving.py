"""ControlServer: a run's endpoint on a unix socket, with its inbox."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path

from ..control import MAX_MESSAGE, Refused
from ..core import InterlockError
from .endpoint import Endpoint
from .inbox import collect_requests
from .peer import Peer
from .place import note_socket, socket_path
from .unix import LineHandler, LineServer, listen


class ControlHandler(LineHandler):
    """Hands lines to the endpoint; answers go down the connection that the copy came on."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def on_line(self, peer: Peer, line: bytes) -> None:
        if peer.has_hung_up():
            # It may have lain in our buffers for long, and nobody waits for it: on a socket age is zero.
            self._post(Refused("the sender hung up before its message was read", peer.actor))
            return
        try:
            self._endpoint.receive(line, peer, actor=peer.actor)
        except InterlockError:
            # It could not be made durable, so there is no answer: the sender notices at once, and retries.
            peer.shut_down()

    def on_too_long(self, peer: Peer) -> None:
        self.on_line(peer, b" " * (MAX_MESSAGE + 1))

    def on_refused(self, peer: Peer) -> None:
        self._post(Refused(f"{peer.actor} may not control this run", peer.actor, peer))

    def on_closed(self, peer: Peer) -> None:
        self._endpoint.forget(peer)

    def _post(self, event: Refused) -> None:
        with contextlib.suppress(InterlockError):
            self._endpoint.post(event)


class ControlServer:
    """Serves one run: `open` listens and takes what lies in the inbox; the endpoint must have been started.

    A listener that is handed in lives on when this is closed: whoever made it gives it to the next owner.
    """

    def __init__(self, endpoint: Endpoint, folder: Path, listener: socket.socket | None = None) -> None:
        self.path = socket_path(folder)
        self._endpoint, self._folder = endpoint, folder
        self._is_ours = listener is None
        self._server = LineServer(listener or listen(self.path), ControlHandler(endpoint), f"socket {folder.name}")

    def open(self) -> None:
        note_socket(self._folder, self.path)
        self._server.start()
        self.read_inbox()

    def read_inbox(self) -> None:
        """Take the requests that were left while nobody was here."""
        for left in collect_requests(self._folder / "inbox"):
            self._endpoint.receive(left.data, None, age=left.age, actor=left.actor)
            left.path.unlink(missing_ok=True)

    def close(self) -> None:
        self._server.close()
        if self._is_ours:
            self.path.unlink(missing_ok=True)
