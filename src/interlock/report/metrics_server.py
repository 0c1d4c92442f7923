"""MetricsServer: /metrics over HTTP on this machine, for programs that have no web server of their own."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ..core import BadInput
from .metrics import JournalMetrics

HERE = "127.0.0.1"
NAMES = frozenset((HERE, "localhost"))
"""The hosts that we answer for: a page elsewhere that has its name point here gets nothing."""


class MetricsServer:
    """Answers GET /metrics until it is closed. It tells numbers and names, nothing of any run's content."""

    def __init__(self, metrics: JournalMetrics, port: int) -> None:
        try:
            self._server = ThreadingHTTPServer((HERE, port), _handler(metrics))
        except OSError as error:
            what = f"metrics cannot be served on port {port} ({error.strerror})"
            raise BadInput(what, todo="Choose another port.") from None
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, name="interlock-metrics", daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://{HERE}:{self._server.server_port}/metrics"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(metrics: JournalMetrics) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        server_version = "interlock"
        sys_version = ""
        timeout = 10

        def do_GET(self) -> None:
            if self.headers.get("host", "").rpartition(":")[0] not in NAMES:
                self._answer(400, "text/plain", b"unknown host\n")
            elif self.path != "/metrics":
                self._answer(404, "text/plain", b"there is only /metrics\n")
            else:
                self._answer(200, metrics.content_type, metrics.render())

        def log_message(self, *_: object) -> None:
            """No one wants a line for every scrape."""

        def _answer(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler
