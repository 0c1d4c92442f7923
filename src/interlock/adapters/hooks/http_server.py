"""HookHttpServer: the resident supervisor over loopback HTTP, for clients whose hooks can post.

POST /hooks/CLIENT with the payload as body and the token as bearer; the reply is the hook's. Without the token: 401;
with a foreign Host: 400. A posting client gets no keep-alive lines while it waits, so its timeout must be long.
"""

from __future__ import annotations

import hmac
import socket
from collections.abc import Callable

from msgspec import Struct

from ...link import AcceptedConnection, AcceptThreads
from ..steps.step_numbering import WaitingClient

HOST = "127.0.0.1"
HOSTS = frozenset((HOST, "localhost"))
MAX_BODY = 32 * 1024 * 1024
MAX_HEAD = 65_536
REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized"}
_CHUNK = 65_536

HookHandler = Callable[[bytes, WaitingClient], bytes | None]


class HookHttpServer(AcceptThreads):
    """Listens on loopback until it is closed; `answer` handles a hook line, as for the unix socket."""

    def __init__(self, token: str, answer: HookHandler, port: int = 0) -> None:
        self._token, self._answer = token.encode(), answer
        listener = socket.create_server((HOST, port), backlog=128)
        self.url = f"http://{HOST}:{listener.getsockname()[1]}"
        super().__init__(listener, self._serve_requests, "interlock-http")

    def _serve_requests(self, connection: AcceptedConnection) -> None:
        """Serve the requests of one connection in sequence."""
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        requests = _RequestReader(connection.sock)
        try:
            while (head := requests.head()) is not None and self._reply(head, requests, connection):
                connection.busy = False
        except OSError:
            # The client is gone.
            return

    def _reply(self, head: _Head, requests: _RequestReader, connection: AcceptedConnection) -> bool:
        """Answer one request; returns whether another may follow. Never logged: payloads contain what agents do."""
        connection.busy = True
        refused = self._refusal(head)
        if refused is not None:
            # The body is not read.
            connection.sock.sendall(_response(*refused))
            return False
        if head.given.get(b"expect", b"").lower() == b"100-continue":
            connection.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = requests.body(int(head.given[b"content-length"]))
        client = head.path.removeprefix(b"/hooks/")
        if body is None:
            return False
        line = b'{"hook":{"client":"' + client + b'","payload":' + body + b"}}"
        reply = self._answer(line, _HttpClient(connection))
        if reply is None:
            return False
        connection.sock.sendall(_response(400 if reply.startswith(b'{"error":') else 200, reply))
        return head.given.get(b"connection", b"").lower() != b"close"

    def _refusal(self, head: _Head) -> tuple[int, bytes] | None:
        given = head.given
        host = given.get(b"host", b"").rsplit(b":", 1)[0].decode("latin-1")
        if host not in HOSTS or b"origin" in given:
            return 400, b'{"error":"this is for programs on this machine"}'
        if not hmac.compare_digest(given.get(b"authorization", b"").removeprefix(b"Bearer "), self._token):
            return 401, b'{"error":"the token is missing or wrong"}'
        length, client = given.get(b"content-length", b""), head.path.removeprefix(b"/hooks/")
        is_hook = head.method == b"POST" and client.isascii() and client.replace(b"-", b"").isalnum()
        if not is_hook or not length.isdigit() or int(length) > MAX_BODY:
            return 400, b'{"error":"post a payload to /hooks/CLIENT"}'
        return None


class _HttpClient:
    """A client that posted a request and waits."""

    def __init__(self, connection: AcceptedConnection) -> None:
        self.waits = connection.waits

    def say_wait(self) -> None:
        """Nothing can be sent before the reply."""


class _Head(Struct, frozen=True):
    method: bytes
    path: bytes
    given: dict[bytes, bytes]


class _RequestReader:
    """Reads requests from one connection. No general HTTP parser: that would cost more than the answer."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._rest = b""

    def head(self) -> _Head | None:
        """The next request's line and headers; None at the end or if it is not HTTP."""
        while (end := self._rest.find(b"\r\n\r\n")) < 0:
            if len(self._rest) > MAX_HEAD or not (data := self._sock.recv(_CHUNK)):
                return None
            self._rest += data
        first, *lines = self._rest[:end].split(b"\r\n")
        self._rest = self._rest[end + 4 :]
        words = first.split()
        if len(words) != 3:
            return None
        given = {}
        for line in lines:
            name, _, value = line.partition(b":")
            given[name.strip().lower()] = value.strip()
        return _Head(words[0], words[1], given)

    def body(self, length: int) -> bytes | None:
        """`length` bytes; None if the connection ends before."""
        parts, missing = [self._rest], length - len(self._rest)
        while missing > 0:
            if not (data := self._sock.recv(min(missing, _CHUNK))):
                return None
            parts.append(data)
            missing -= len(data)
        whole = b"".join(parts)
        self._rest = whole[length:]
        return whole[:length]


def _response(status: int, body: bytes) -> bytes:
    """Header and body in one piece: separately they would cost 40 ms (Nagle, delayed ACK)."""
    head = f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return f"{head}\r\n\r\n".encode() + body
