"""A Messages API on loopback that answers as it is told, also badly; the real SDK talks to it over HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

VERDICT = {
    "status": "normal",
    "confidence": 0.97,
    "description": "The file is open.",
    "recovery_actions": [],
    "expected_file": "a.py",
    "actual_file": "a.py",
}

Answer = Callable[[BaseHTTPRequestHandler], None]


def message(*blocks: dict[str, Any], stop_reason: str = "end_turn") -> Answer:
    """A proper answer with these blocks."""
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(blocks),
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 2000, "output_tokens": 100},
    }
    return raw(200, json.dumps(body).encode())


def text(content: str) -> Answer:
    return message({"type": "text", "text": content})


def verdict(**changes: Any) -> Answer:
    return text(json.dumps(VERDICT | changes))


def raw(status: int, body: bytes, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(body)))
        for key, value in headers.items():
            handler.send_header(key.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def error(status: int, kind: str = "api_error", **headers: str) -> Answer:
    return raw(status, json.dumps({"type": "error", "error": {"type": kind, "message": kind}}).encode(), **headers)


def cut(handler: BaseHTTPRequestHandler) -> None:
    """The connection ends in the middle of the answer."""
    handler.send_response(200)
    handler.send_header("content-length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"id"')
    handler.close_connection = True


def silence(release: threading.Event) -> Answer:
    """No answer until released."""
    return lambda handler: void(release.wait(150))


def drip(release: threading.Event) -> Answer:
    """A byte now and then: no read ever times out."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("content-length", "100000")
        handler.end_headers()
        try:
            while not release.wait(0.05):
                handler.wfile.write(b" ")
                handler.wfile.flush()
        except OSError:
            return

    return answer


def void(_: object) -> None:
    return None


class StandIn:
    """The running server: what it was asked, and its address."""

    def __init__(self, answers: list[Answer]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        outer, waiting = self, list(answers)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments: object) -> None:
                return

            def do_POST(self) -> None:
                outer.requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                outer.headers.append({key.lower(): value for key, value in self.headers.items()})
                outer.times.append(time.monotonic())
                (waiting.pop(0) if len(waiting) > 1 else waiting[0])(self)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def serving(*answers: Answer) -> Iterator[StandIn]:
    """A server that gives these answers in turn, the last one for ever."""
    server = StandIn(list(answers))
    try:
        yield server
    finally:
        server.close()
