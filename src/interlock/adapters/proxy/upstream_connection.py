"""UpstreamConnection: one connection to the API, reused for several exchanges; Traffic: all open requests."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

import httpcore
import httptools

from .client_connection import Headers

READ = 65_536

MOST_HEAD = 1024 * 1024
"""The most bytes of headers, trailers and early responses."""


class UpstreamClosed(httpcore.RemoteProtocolError):
    """Raised when a server closed a connection without an answer."""


class UpstreamResponse:
    """An answer that has begun; `stream` yields its body once, as it arrives."""

    def __init__(self, line: UpstreamConnection, before_wait: Callable[[], None]) -> None:
        self.status, self.reason, self.headers = line.status, line.reason, line.headers
        self.stream = line.read_body(before_wait)
        self.network = line.network


class UpstreamConnection:
    """Yields data packet by packet. For one thread at a time."""

    status: int
    reason: bytes
    headers: Headers
    kept: bool
    _body: list[bytes]
    _complete: bool
    _measured: bool
    _without_body: int

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self.network = stream
        self._parser = httptools.HttpResponseParser(self)
        self._clear()

    def ask(self, request: bytes, limit_s: float, *, head_only: bool = False) -> None:
        """Send a request, and read the head of its answer."""
        self._clear()
        self._head_only = head_only
        try:
            self.network.write(request, limit_s)
        except httpcore.WriteError:
            # A server may refuse a request before it has all of it: read its answer anyway.
            self.kept = False
        while not self._begun:
            if not self._read():
                raise UpstreamClosed("the server disconnected without a response")

    def read_body(self, before_wait: Callable[[], None]) -> Iterator[bytes]:
        """The body; `before_wait` is called before waiting for more of it."""
        while True:
            if self._body:
                data, self._body = b"".join(self._body), []
                yield data
            if self._complete:
                return
            before_wait()
            if not self._read():
                self.kept = False
                if self._measured:
                    raise httpcore.RemoteProtocolError("the server disconnected in the middle of its response")
                return

    @property
    def idle(self) -> bool:
        """Whether it can be used for another exchange."""
        return self._complete and self.kept

    @property
    def stale(self) -> bool:
        """Whether the server has closed it, or sent something unexpected."""
        return bool(self.network.get_extra_info("is_readable"))

    def close(self) -> None:
        self.network.close()

    def on_message_begin(self) -> None:
        self.kept = self.kept and not self._complete

    def on_status(self, part: bytes) -> None:
        self.reason += part

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        self._begun = self.status >= 200
        self.kept = self.kept and self._parser.should_keep_alive()
        self._measured = any(name.lower() in (b"content-length", b"transfer-encoding") for name, _ in self.headers)
        if self._head_only:
            # The parser does not know that no body follows, and cannot be used any more.
            self._complete, self.kept = True, False

    def on_body(self, data: bytes) -> None:
        self._body.append(data)

    def on_message_complete(self) -> None:
        if self._begun:
            self._complete = True
        else:
            self.reason, self.headers = b"", []

    def _read(self) -> bool:
        """Read and parse more data; False at the end."""
        data = self.network.read(READ)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            raise httpcore.RemoteProtocolError(f"the server does not speak HTTP: {error}") from error
        self._without_body = 0 if self._body else self._without_body + len(data)
        if self._without_body > MOST_HEAD:
            raise httpcore.RemoteProtocolError(f"the headers of the response are longer than {MOST_HEAD >> 20} MB")
        return bool(data)

    def _clear(self) -> None:
        self.status = 0
        self.reason = b""
        self.headers = []
        self.kept = True
        self._body = []
        self._without_body = 0
        self._begun = self._complete = self._measured = self._head_only = False


class OpenRequest:
    """The progress of one request and its answer."""

    def __init__(self) -> None:
        self.since = time.monotonic()
        self.begun: float | None = None
        self.byte: float | None = None
        self.content: float | None = None
        self._response: UpstreamResponse | None = None

    def begin(self, response: UpstreamResponse) -> None:
        """The answer has begun."""
        self._response, self.begun = response, time.monotonic()

    def note(self, *, content: bool) -> None:
        """Note that bytes arrived; `content` if they were more than a ping."""
        self.byte = time.monotonic()
        self.content = self.byte if content else self.content

    def cut(self) -> bool:
        """Close the connection: the client sees that it broke, and retries."""
        stream = self._response.network if self._response is not None else None
        sock = stream.get_extra_info("socket") if stream is not None else None
        with contextlib.suppress(OSError):
            if sock is not None:
                sock.shutdown(socket.SHUT_RDWR)
                return True
        return False


class Traffic:
    """The open requests of a run, and how the last ones went."""

    def __init__(self) -> None:
        self._open: list[OpenRequest] = []
        self._lock = threading.Lock()
        self.empty = 0
        self.failures = 0
        self.failure = ""

    @contextlib.contextmanager
    def request(self) -> Iterator[OpenRequest]:
        """Track one request until the end of its answer."""
        one = OpenRequest()
        with self._lock:
            self._open.append(one)
        try:
            yield one
        finally:
            with self._lock:
                self._open.remove(one)

    @property
    def oldest(self) -> OpenRequest | None:
        with self._lock:
            return self._open[0] if self._open else None

    def arrived(self) -> None:
        """A request reached the model."""
        self.failures = 0

    def failed(self, why: str) -> None:
        """A request did not reach the model."""
        self.failures, self.failure = self.failures + 1, why

    def answered(self, *, empty: bool) -> None:
        """An answer is complete; `empty` if it had no content."""
        self.empty = self.empty + 1 if empty else 0
