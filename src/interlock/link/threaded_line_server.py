"""ThreadedLineServer: JSON lines over a unix socket, each answered by the thread that has read it."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator

from ..core import peer_credentials
from .accept_threads import AcceptedConnection, AcceptThreads
from .line_server import MAX_SKIP
from .peer import is_trusted

_CHUNK = 65_536


class LineClient:
    """A process that has said something and waits for the answer."""

    def __init__(self, desk: AcceptedConnection, pid: int) -> None:
        self.pid = pid
        self._desk = desk

    def waits(self) -> bool:
        return self._desk.waits()

    def say_wait(self) -> None:
        """An empty line: someone is here, and the answer will come."""
        with contextlib.suppress(OSError):
            self._desk.sock.send(b"\n", socket.MSG_DONTWAIT)


LineHandler = Callable[[bytes, LineClient], bytes | None]
"""The answer to a line, when it is due; None if no one is waiting for it any more."""


class ThreadedLineServer:
    """Lines of one connection are answered in order; connections do not delay each other."""

    def __init__(
        self, listener: socket.socket, answer: LineHandler, name: str, *, max_line: int, too_long: bytes
    ) -> None:
        self._answer, self._max_line, self._too_long = answer, max_line, too_long
        self._desks = AcceptThreads(listener, self._serve, name)

    def start(self) -> None:
        self._desks.start()

    def hang_up(self) -> None:
        """Cut all connections: no one is answered any more."""
        self._desks.hang_up()

    def settle(self, seconds: float) -> None:
        """Return when what others sent before they went is dealt with, or after so long."""
        self._desks.settle(seconds)

    def close(self, grace_s: float = 0.0) -> None:
        """Answer what is being answered, and stop."""
        self._desks.close(grace_s)

    def _serve(self, desk: AcceptedConnection) -> None:
        pid, uid, _ = peer_credentials(desk.sock)
        if not is_trusted(uid):
            return
        caller = LineClient(desk, pid)
        for line in self._lines(desk.sock):
            desk.busy = True
            answer = self._too_long if line is None else self._answer(line, caller)
            if answer is None or not _send(desk.sock, answer + b"\n"):
                return
            desk.busy, desk.served = False, True
            if self._desks.stopping:
                return

    def _lines(self, sock: socket.socket) -> Iterator[bytes | None]:
        """Whole lines without their ends; None for one that is too long, which is read to its end and thrown away."""
        received, skipped = bytearray(), 0
        while data := _receive(sock):
            seen = len(received)
            received += data
            while (end := received.find(b"\n", seen)) >= 0:
                line, seen = bytes(received[:end]), 0
                del received[: end + 1]
                if skipped:
                    skipped = 0
                elif end > self._max_line:
                    yield None
                elif line.strip():
                    yield line
            if len(received) > self._max_line:
                if not skipped:
                    yield None
                skipped += len(received)
                received.clear()
                if skipped > max(MAX_SKIP, 2 * self._max_line):
                    return


def _receive(sock: socket.socket) -> bytes:
    """What comes next; nothing where the other end has gone."""
    try:
        return sock.recv(_CHUNK)
    except OSError:
        return b""


def _send(sock: socket.socket, data: bytes) -> bool:
    try:
        sock.sendall(data)
    except OSError:
        return False
    return True
