"""Wire: one client's connection, spoken in HTTP/1.1 by h11; a thread of its own reads and writes it."""

from __future__ import annotations

import contextlib
import socket

import h11
from msgspec import Struct

CHUNK = 262_144
MOST_BYTES = 256 * 1024 * 1024
"""A request longer than this is refused: nobody's conversation is."""

Headers = list[tuple[bytes, bytes]]
"""Names in lower case, in the order that they came in."""


class Asked(Struct, frozen=True):
    """One request, whole."""

    method: str
    target: str
    headers: Headers
    body: bytes

    def header(self, name: bytes) -> str:
        return next((value.decode("latin-1") for key, value in self.headers if key == name), "")


class Gone(Exception):
    """Raised when the client is not there any more."""


class Wire:
    """Requests in, answers out, one after the other."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sock = sock
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=1024 * 1024)
        self.begun = False

    def receive(self) -> Asked | None:
        """The next request; None when the client has finished."""
        if self._http.states == {h11.CLIENT: h11.DONE, h11.SERVER: h11.DONE}:
            self._http.start_next_cycle()
        self.begun = False
        head: h11.Request | None = None
        body: list[bytes] = []
        size = 0
        while True:
            event = self._next()
            if isinstance(event, h11.Request):
                head = event
            elif isinstance(event, h11.Data):
                size += len(event.data)
                if size > MOST_BYTES:
                    raise h11.RemoteProtocolError("the request is too long", error_status_hint=413)
                body.append(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                break
            else:
                return None
        return Asked(head.method.decode(), head.target.decode("latin-1"), list(head.headers), b"".join(body))

    def begin(self, status: int, headers: Headers, reason: bytes = b"") -> None:
        """The head of the answer; a body without a length goes in chunks."""
        self.begun = True
        self._send(h11.Response(status_code=status, headers=headers, reason=reason))

    def write(self, data: bytes) -> None:
        if data:
            self._send(h11.Data(data=data))

    def end(self, data: bytes = b"") -> None:
        """The end of the answer, with the last of it: in one piece, so that the client is woken once."""
        self._send(*([h11.Data(data=data)] if data else []), h11.EndOfMessage())

    def answer(self, status: int, kind: str, body: bytes) -> None:
        """A whole answer of our own."""
        self.begin(status, [(b"content-type", kind.encode()), (b"content-length", b"%d" % len(body))])
        self.end(body)

    def is_gone(self) -> bool:
        """Whether the client has hung up while we kept it waiting."""
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
        """There is nothing that can be said before an answer begins."""

    def hang_up(self) -> None:
        """End the connection; whoever reads or writes at this moment notices."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.hang_up()
        self._sock.close()

    @property
    def reusable(self) -> bool:
        return self._http.our_state in (h11.DONE, h11.IDLE) and self._http.their_state in (h11.DONE, h11.IDLE)

    def _next(self) -> object:
        while True:
            event = self._http.next_event()
            if event is not h11.NEED_DATA:
                return event
            if self._http.they_are_waiting_for_100_continue:
                self._send(h11.InformationalResponse(status_code=100, headers=[]))
            try:
                self._http.receive_data(self._sock.recv(CHUNK))
            except OSError as error:
                raise Gone from error

    def _send(self, *events: h11.Event) -> None:
        try:
            parts: list[bytes] = []
            for event in events:
                parts += self._http.send_with_data_passthrough(event) or []
            self._sock.sendall(b"".join(parts))
        except (OSError, h11.LocalProtocolError) as error:
            raise Gone from error
