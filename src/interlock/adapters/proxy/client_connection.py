"""Acceptor: accepts connections; ClientConnection: one client's HTTP/1.1 connection, read with httptools."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable

import httptools
from msgspec import Struct

CHUNK = 262_144
IDLE_S = 600.0
"""How long a connection may wait between two requests."""

REQUEST_S = 60.0
"""How long a request may take from its first byte to its last, as the client is on this machine."""

MOST_BYTES = 256 * 1024 * 1024
"""The longest request; no real conversation is longer."""

Headers = list[tuple[bytes, bytes]]
"""Names in lower case, in their original order."""


class ClientRequest(Struct, frozen=True):
    """One complete request; `keeps`: the client wants to keep the connection."""

    method: str
    target: str
    headers: Headers
    body: bytes
    keeps: bool = True

    def header(self, name: bytes) -> str:
        return next((value.decode("latin-1") for key, value in self.headers if key == name), "")


class ClientGone(Exception):
    """Raised when the client is gone, or does not speak HTTP."""


class ClientConnection:
    """Receives requests and sends answers, one after the other."""

    def __init__(self, sock: socket.socket) -> None:
        if sock.family != socket.AF_UNIX:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sock = sock
        self._requests = _Requests()
        self._asked: ClientRequest | None = None
        self._out: list[bytes] = []
        self._unsent = 0
        self._left: int | None = None
        self._chunked = self._ended = False
        self.begun = False
        self.waiting_since = time.monotonic()
        """Since when it has been idle; 0 while a request is answered."""

    def receive(self) -> ClientRequest | None:
        """The next request; None when the client has finished."""
        self.begun = self._ended = False
        self.waiting_since = time.monotonic()
        self._sock.settimeout(IDLE_S)
        until = None
        while not self._requests.whole:
            if self._requests.expects:
                self._requests.expects = False
                self._put(b"HTTP/1.1 100 Continue\r\n\r\n")
                self.flush()
            try:
                data = self._sock.recv(CHUNK)
            except OSError as error:
                raise ClientGone from error
            if not data:
                return None
            until = until or time.monotonic() + REQUEST_S
            self._requests.feed(data)
            if not self._requests.whole:
                self._sock.settimeout(max(0.01, until - time.monotonic()))
        self._sock.settimeout(None)
        self.waiting_since = 0.0
        self._asked = self._requests.whole.popleft()
        return self._asked

    def begin(self, status: int, headers: Headers, reason: bytes = b"") -> None:
        """Write the head of the answer; a body without a length is chunked. Sent with what follows, or by flush."""
        assert self._asked is not None
        self.begun = True
        length = next((value for key, value in headers if key.lower() == b"content-length"), None)
        bodiless = self._asked.method == "HEAD" or status in (204, 304)
        self._left = 0 if bodiless else int(length) if length is not None else None
        # A client that closes after this answer, such as HTTP/1.0, needs no chunks.
        self._chunked = self._left is None and self._asked.keeps
        lines = [b"HTTP/1.1 %d %b" % (status, reason), *(b"%b: %b" % one for one in headers)]
        if self._chunked:
            lines.append(b"transfer-encoding: chunked")
        if not self._asked.keeps:
            lines.append(b"connection: close")
        self._put(b"\r\n".join(lines) + b"\r\n\r\n")

    def write(self, data: bytes) -> None:
        if not data:
            return
        if self._left is not None:
            self._left -= len(data)
        self._put(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)
        if self._unsent > CHUNK:
            self.flush()

    def end(self, data: bytes = b"") -> None:
        """Finish the answer with its last data, in one piece so that the client is woken once."""
        self.write(data)
        if self._chunked:
            self._put(b"0\r\n\r\n")
        self.flush()
        if self._left:
            raise ClientGone("the response has a different length than announced")
        self._ended = True

    def flush(self) -> None:
        """Send what was written."""
        parts, self._out, self._unsent = self._out, [], 0
        if parts:
            try:
                self._sock.sendall(b"".join(parts))
            except OSError as error:
                raise ClientGone from error

    def answer(self, status: int, kind: str, body: bytes) -> None:
        """Send a whole answer of our own."""
        self.begin(status, [(b"content-type", kind.encode()), (b"content-length", b"%d" % len(body))])
        self.end(body)

    def is_gone(self) -> bool:
        """Whether the client has hung up while it waited."""
        try:
            return self._sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def waits(self) -> bool:
        """Whether the client still waits for its answer."""
        return not self.is_gone()

    def say_wait(self) -> None:
        """Nothing can be sent before an answer begins."""

    def hang_up(self) -> None:
        """End the connection; pending reads and writes notice."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.hang_up()
        self._sock.close()

    @property
    def reusable(self) -> bool:
        return self._ended and self._asked is not None and self._asked.keeps

    def _put(self, data: bytes) -> None:
        self._out.append(data)
        self._unsent += len(data)


class _Requests:
    """Parses bytes into requests; several may come in one packet."""

    def __init__(self) -> None:
        self.whole: deque[ClientRequest] = deque()
        self.expects = False
        self._parser = httptools.HttpRequestParser(self)
        self._clear()

    def feed(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > MOST_BYTES:
            raise ClientGone("the request is too long")
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._decline(self.whole.pop(), data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            raise ClientGone from error

    def on_url(self, part: bytes) -> None:
        self._target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self._keeps = self._parser.should_keep_alive() and self._parser.get_http_version() == "1.1"
        self.expects = (b"expect", b"100-continue") in self._headers

    def on_body(self, data: bytes) -> None:
        self._body.append(data)

    def on_message_complete(self) -> None:
        method, target = self._parser.get_method().decode(), self._target.decode("latin-1")
        self.whole.append(ClientRequest(method, target, self._headers, b"".join(self._body), self._keeps))
        self.expects = False
        self._clear()

    def _decline(self, offer: ClientRequest, rest: bytes) -> None:
        """Ignore an offered protocol upgrade: parse the request again without the offer."""
        if offer.method == "CONNECT":
            raise ClientGone("CONNECT is not supported")
        kept = [one for one in offer.headers if one[0] not in (b"upgrade", b"connection")]
        head = [f"{offer.method} {offer.target} HTTP/1.1".encode("latin-1"), *(b"%b: %b" % one for one in kept)]
        self._parser = httptools.HttpRequestParser(self)
        self.feed(b"\r\n".join([*head, b"", rest]))

    def _clear(self) -> None:
        self._target = b""
        self._headers: Headers = []
        self._body: list[bytes] = []
        self._size = 0
        self._keeps = True


class Acceptor:
    """Accepts connections in a thread; `serve` starts a thread for one of them."""

    def __init__(self, listener: socket.socket, on_connection: Callable[[socket.socket], None], name: str) -> None:
        self._listener, self._on_connection, self._name = listener, on_connection, name
        self._wake_writer, self._wake_reader = socket.socketpair()
        self._thread = threading.Thread(target=self._accept, name=f"interlock-{name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Accept no more connections."""
        self._wake_writer.send(b"x")
        if self._thread.ident is not None:
            self._thread.join()
        self._wake_writer.close()
        self._wake_reader.close()

    def serve(self, target: Callable[[], None]) -> None:
        """Start a thread for one connection."""
        threading.Thread(target=target, name=f"interlock-{self._name}-connection", daemon=True).start()

    def _accept(self) -> None:
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._listener, selectors.EVENT_READ)
            waiting.register(self._wake_reader, selectors.EVENT_READ)
            self._listener.setblocking(False)
            while not any(key.fileobj is self._wake_reader for key, _ in waiting.select()):
                try:
                    sock, _ = self._listener.accept()
                except (BlockingIOError, ConnectionAbortedError):
                    continue
                sock.setblocking(True)
                self._on_connection(sock)
