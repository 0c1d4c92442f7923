"""HttpDoor: the resident supervisor over loopback HTTP, for clients whose hooks can post.

POST /hooks/CLIENT with the payload as body and the token as bearer; the reply is the hook's. Without the token: 401;
with a foreign Host: 400. Whoever posts waits without keep-alive lines, so a client's own timeout must be long.
"""

from __future__ import annotations

import hmac
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ..process.book import Asker

HOST = "127.0.0.1"
MAX_BODY = 32 * 1024 * 1024
MAX_HEADER, MAX_HEADERS = 65_536, 100
REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized"}
HOSTS = frozenset((HOST, "localhost"))

Answer = Callable[[bytes, Asker], bytes | None]


class HttpDoor:
    """Listens on loopback until it is closed; `answer` takes a hook line, as the unix socket does."""

    def __init__(self, token: str, answer: Answer, port: int = 0) -> None:
        self._server = _Server((HOST, port), _Handler)
        self._server.token, self._server.answer = token, answer
        self._thread = threading.Thread(target=self._server.serve_forever, name="interlock-http", daemon=True)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._server.server_address[1]}"

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    token: str
    answer: Answer


class _Poster:
    """Whoever has posted and waits."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def waits(self) -> bool:
        try:
            return self._sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def say_wait(self) -> None:
        """Nothing can be said before the reply."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    raw_requestline: bytes
    server: _Server

    def parse_request(self) -> bool:
        """The request line and the headers, without the general parser: it costs more than the answer."""
        words = self.raw_requestline.decode("latin-1").split()
        if len(words) != 3:
            return False
        self.command, self.path, self.request_version = words
        self.requestline = " ".join(words)
        self._given: dict[str, str] = {}
        while (line := self.rfile.readline(MAX_HEADER)) not in (b"\r\n", b"\n", b""):
            name, _, value = line.decode("latin-1").partition(":")
            self._given[name.strip().lower()] = value.strip()
            if len(self._given) > MAX_HEADERS:
                return False
        self.close_connection = self._given.get("connection", "").lower() == "close"
        if self._given.get("expect", "").lower() == "100-continue":
            self.connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        return True

    def do_POST(self) -> None:
        host = self._given.get("host", "").rsplit(":", 1)[0]
        if host not in HOSTS or "origin" in self._given:
            return self._refuse(400, b'{"error":"this is for programs on this machine"}')
        token = self._given.get("authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            return self._refuse(401, b'{"error":"the token is missing or wrong"}')
        length = self._given.get("content-length", "")
        client = self.path.removeprefix("/hooks/")
        if not length.isdecimal() or int(length) > MAX_BODY or not client.replace("-", "").isalnum():
            return self._refuse(400, b'{"error":"post a payload to /hooks/CLIENT"}')
        body = self.rfile.read(int(length)).replace(b"\n", b" ").replace(b"\r", b" ")
        line = b'{"hook":{"client":"' + client.encode() + b'","payload":' + body + b"}}"
        reply = self.server.answer(line, _Poster(self.connection))
        if reply is None:
            self.close_connection = True
            return None
        return self._send(400 if reply.startswith(b'{"error":') else 200, reply)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Nothing is logged: payloads hold what agents do."""

    def _refuse(self, status: int, body: bytes) -> None:
        """Say so and hang up: what was posted is not read."""
        self.close_connection = True
        self._send(status, body)

    def _send(self, status: int, body: bytes) -> None:
        head = f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        # In one write: header and body apart cost 40 ms by Nagle and a delayed acknowledgement.
        self.connection.sendall(f"{head}\r\n\r\n".encode() + body)
