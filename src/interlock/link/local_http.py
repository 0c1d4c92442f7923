"""LocalHttpServer: HTTP for programs on this machine, under this machine's own names only."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOST = "127.0.0.1"
NAMES = frozenset((HOST, "localhost"))
"""Accepted Host headers: protects against DNS rebinding."""


class LocalHandler(BaseHTTPRequestHandler):
    """One connection. Requests are never logged: they contain what agents do."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "interlock", ""
    timeout = 60
    # Header and body in one packet: apart, delayed acknowledgements cost 40 ms a reply.
    wbufsize = -1
    disable_nagle_algorithm = True

    def answer(self) -> None:
        """Reply to a request that names this machine and does not come from a web page."""

    def do_GET(self) -> None:
        if self.headers.get("host", "").split(":")[0] in NAMES and "origin" not in self.headers:
            self.answer()
        else:
            self.refuse(400, b'{"error":"this is for programs on this machine"}')

    def do_POST(self) -> None:
        self.do_GET()

    def refuse(self, status: int, body: bytes) -> None:
        """Send this answer, and end the connection: the request's body is not read."""
        self.close_connection = True
        self.reply(status, "application/json", body)

    def reply(self, status: int, kind: str, body: bytes) -> None:
        """Send the whole answer."""
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class LocalHttpServer:
    """Serves each connection in a thread, until it is closed. OSError if the port is taken."""

    def __init__(self, handler: type[LocalHandler], port: int, name: str) -> None:
        self._server = ThreadingHTTPServer((HOST, port), handler)
        self._server.daemon_threads = True
        self.url = f"http://{HOST}:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, name=name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
