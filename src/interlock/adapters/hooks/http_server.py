"""The resident supervisor over loopback HTTP, for clients whose hooks can post.

POST /hooks/CLIENT with the payload as body and the token as bearer; the reply is the hook's. Without the token: 401;
with a foreign Host: 400. A posting client gets no keep-alive lines while it waits, so its timeout must be long.
"""

from __future__ import annotations

import hmac
import socket
from collections.abc import Callable

from ...link import LocalHandler, LocalHttpServer, is_open
from ..steps.step_numbering import WaitingClient

MAX_BODY = 32 * 1024 * 1024

HookHandler = Callable[[bytes, WaitingClient], bytes | None]


def serve_hooks(token: str, answer: HookHandler, port: int = 0) -> LocalHttpServer:
    """Listen on loopback until it is closed; `answer` handles a hook line, as for the unix socket."""

    class Handler(LocalHandler):
        def answer(self) -> None:
            if (refused := self._refusal()) is not None:
                self.refuse(*refused)
                return
            length = int(self.headers["content-length"])
            body = self.rfile.read(length)
            client = self.path.removeprefix("/hooks/").encode()
            line = b'{"hook":{"client":"' + client + b'","payload":' + body + b"}}"
            answered = answer(line, _HttpClient(self.connection)) if len(body) == length else None
            if answered is None:
                self.close_connection = True
            else:
                self.reply(400 if answered.startswith(b'{"error":') else 200, "application/json", answered)

        def _refusal(self) -> tuple[int, bytes] | None:
            given = self.headers.get("authorization", "").removeprefix("Bearer ")
            if not hmac.compare_digest(given.encode("latin-1", "replace"), token.encode()):
                return 401, b'{"error":"the token is missing or wrong"}'
            length, client = self.headers.get("content-length", ""), self.path.removeprefix("/hooks/")
            is_hook = self.command == "POST" and client.isascii() and client.replace("-", "").isalnum()
            if not is_hook or not length.isdecimal() or int(length) > MAX_BODY:
                return 400, b'{"error":"post a payload to /hooks/CLIENT"}'
            return None

    return LocalHttpServer(Handler, port, "interlock-http")


class _HttpClient:
    """A client that posted a request and waits."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def waits(self) -> bool:
        return is_open(self._connection)

    def say_wait(self) -> None:
        """Nothing can be sent before the reply."""
