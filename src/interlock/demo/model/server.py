"""ScriptedModel: the server, in its own thread, on loopback."""

from __future__ import annotations

import gzip
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from .formats import FORMATS, ModelReply, ReplyFormat
from .script import MARK, SECRET, ModelRequest, ScriptedTurn, Scripts, Tokens, TurnChooser, with_client_tools

HOST = "127.0.0.1"


class ScriptedModel:
    """Replies as `script` says; keeps all requests, and the bodies that it sent. `url` is the base without /v1."""

    def __init__(self, script: Scripts = "healthy", port: int = 0) -> None:
        self.requests: list[ModelRequest] = []
        self.sent: list[bytes] = []
        self._chooser = TurnChooser(script)
        self._new = threading.Condition()
        self._server = _Server((HOST, port), _Handler)
        self._server.model = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="model", daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def asked(self) -> list[ModelRequest]:
        """The requests with tools: those of an agent at work."""
        return [request for request in self.requests if request.has_tools]

    def wait_for(self, count: int, timeout_s: float = 30.0) -> ModelRequest:
        """The request with this number (from 1), as soon as it is there."""
        with self._new:
            if not self._new.wait_for(lambda: len(self.requests) >= count, timeout_s):
                raise TimeoutError(f"{len(self.requests)} of {count} requests after {timeout_s:g} s")
            return self.requests[count - 1]

    def start(self) -> ScriptedModel:
        self._thread.start()
        return self

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> ScriptedModel:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def respond(self, request: ModelRequest) -> tuple[str, ScriptedTurn]:
        """Keep a request; returns the turn that answers it."""
        name, turn = self._chooser.turn(request) if request.api != "other" else ("", ScriptedTurn())
        with self._new:
            self.requests.append(request)
            self._new.notify_all()
        return name, with_client_tools(turn, request)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    model: ScriptedModel


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Header and body in one packet: apart, delayed acknowledgements cost 40 ms a reply.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: _Server

    def do_HEAD(self) -> None:
        self._send_head(200, "application/json", 0)

    def do_GET(self) -> None:
        self.server.model.respond(ModelRequest("GET", self.path, self._kept_headers()))
        self._send(200, LISTED if self.path.split("?")[0].endswith("/models") else {})

    def do_POST(self) -> None:
        raw = self._read()
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            self._send(400, _error("the body is not JSON"))
            return
        path = self.path.split("?")[0]
        try:
            if path.endswith(("/count_tokens", ":countTokens")):
                self.server.model.respond(ModelRequest("POST", self.path, self._kept_headers(), raw, body))
                count = max(1, len(raw) // 4)
                self._send(200, {"input_tokens": count, "totalTokens": count})
            elif (api := _api_of(path)) in FORMATS:
                self._answer(api, body, raw)
            else:
                self.server.model.respond(ModelRequest("POST", self.path, self._kept_headers(), raw, body))
                self._send(200, {})
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name that it has above
        return

    def _answer(self, api: str, body: dict[str, Any], raw: bytes) -> None:
        form = FORMATS[api]
        tools = tuple(form.tools(body))
        request = ModelRequest(
            "POST",
            self.path,
            self._kept_headers(),
            raw,
            body,
            api=api,
            turn=_turns(form, body),
            tools=tools,
            has_tools=bool(body.get("tools")),
            stream="streamGenerate" in self.path if api == "gemini" else bool(body.get("stream")),
        )
        _, turn = self.server.model.respond(request)
        if turn.delay_s:
            time.sleep(turn.delay_s)
        if turn.status != 200:
            kind, words = turn.error
            self._send(turn.status, _error(words, kind, turn.status), headers=turn.headers)
            return
        tokens: Tokens = turn.tokens
        whole_prompt = tokens.input if tokens.input is not None else max(1, len(raw) // 4)
        whole = form.whole(ModelReply(turn.text, turn.calls, tokens, whole_prompt, request.model or "scripted"))
        if request.stream and (api != "gemini" or "alt=sse" in self.path):
            self._stream(form, whole, cut=turn.cut)
        elif request.stream:
            self._send(200, [data for _, data in form.events(whole)])
        else:
            self._send(200, whole, cut=turn.cut)

    def _stream(self, form: ReplyFormat, whole: dict[str, Any], *, cut: bool) -> None:
        self._send_head(200, "text/event-stream; charset=utf-8", None)
        sent = bytearray()
        for number, (name, data) in enumerate(form.events(whole)):
            if cut and number == 2:
                self.wfile.flush()
                self.close_connection = True
                self.connection.close()
                return
            text = data if isinstance(data, str) else json.dumps(data)
            event = ((f"event: {name}\n" if name else "") + f"data: {text}\n\n").encode()
            sent += event
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
            self.wfile.flush()
        self.server.model.sent.append(bytes(sent))
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _send(self, status: int, body: Any, *, cut: bool = False, headers: tuple[tuple[str, str], ...] = ()) -> None:
        data = json.dumps(body).encode()
        self.server.model.sent.append(data)
        self._send_head(status, "application/json", len(data), headers)
        self.wfile.write(data[: len(data) // 2] if cut else data)
        self.wfile.flush()
        self.close_connection = self.close_connection or cut

    def _send_head(self, status: int, kind: str, length: int | None, headers: tuple[tuple[str, str], ...] = ()) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("request-id", "req_scripted")
        for name, value in headers:
            self.send_header(name, value)
        if length is None:
            self.send_header("transfer-encoding", "chunked")
        else:
            self.send_header("content-length", str(length))
        self.end_headers()

    def _read(self) -> bytes:
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            parts = []
            while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            data = b"".join(parts)
        else:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
        encoding = self.headers.get("content-encoding", "")
        if encoding == "gzip":
            return gzip.decompress(data)
        if encoding == "zstd":
            import zstandard

            return zstandard.ZstdDecompressor().decompressobj().decompress(data)
        return data

    def _kept_headers(self) -> dict[str, str]:
        found = ((key.lower(), value) for key, value in self.headers.items())
        return {key: f"({len(value)} characters)" if key in SECRET else value for key, value in found}


LISTED = {
    "object": "list",
    "data": [
        {
            "id": "scripted",
            "object": "model",
            "type": "model",
            "display_name": "scripted",
            "created": 0,
            "created_at": "2025-01-01T00:00:00Z",
            "owned_by": "local",
        }
    ],
    "has_more": False,
    "first_id": None,
    "last_id": None,
}


def _error(message: str, kind: str = "scripted_error", status: int = 400) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "code": status, "status": kind, "message": message}}


def _api_of(path: str) -> str:
    if "enerateContent" in path:
        return "gemini"
    ends = {"messages": "anthropic", "responses": "responses", "completions": "chat"}
    return ends.get(path.rstrip("/").rsplit("/", 1)[-1], "other")


def _turns(form: ReplyFormat, body: dict[str, Any]) -> int:
    """The model's turns since the mark: examples before it do not count, adjacent items are one turn."""
    items = body.get(form.items, [])
    if not isinstance(items, list):
        return 0
    start = next((at for at, item in enumerate(items) if MARK.search(json.dumps(item))), 0)
    spoken = [form.is_model(item) for item in items[start:]]
    return sum(now and not before for before, now in zip([False, *spoken], spoken, strict=False))
