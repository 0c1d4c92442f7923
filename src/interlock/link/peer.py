"""Peer: one connection of a line server, and the process at its other end."""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import select
import socket
from collections.abc import Callable
from threading import Lock

from ..core import open_peer, peer_credentials

CHUNK = 16_384
"""Bytes per read."""

MAX_BACKLOG = 4 * 1024 * 1024
"""Bytes that may wait for a peer that does not read; beyond that it is cut off."""


class Peer:
    """A connection. `send` may be called from any thread; what does not fit into the socket's buffer waits.

    OSError if there is no descriptor left for the process at its other end.
    """

    def __init__(self, sock: socket.socket, wake: Callable[[Peer], None]) -> None:
        self.sock = sock
        self.pid, self.uid, self.gid = peer_credentials(sock)
        self.actor = f"{user_name(self.uid)} (uid {self.uid}, pid {self.pid})"
        """The sender's name, for records."""
        self.received = b""
        self.skipping, self.skipped = False, 0
        self.seen: int | None = None
        """The events that the last poll reported, for the first check."""
        self.closed = False
        self._wake = wake
        self._hung_up = select.poll()
        # No events are requested: the kernel reports POLLHUP and POLLERR anyway.
        self._hung_up.register(sock, 0)
        self._lock = Lock()
        self._waiting = bytearray()
        self._process: int | None = None
        self._ended = False
        try:
            self._process = open_peer(sock)
        except ProcessLookupError:
            self._ended = True

    def send(self, body: bytes, *, direct: bool = False, seq: int | None = None) -> None:
        """Send one line; a closed peer is not an error. On a connection all answers are direct and in order."""
        with self._lock:
            if self.closed:
                return
            line = body + b"\n"
            sent = 0 if self._waiting else self._send(line)
            if sent < len(line):
                self._waiting += line[sent:]
                if not self._flush():
                    self._wake(self)

    def flush(self) -> bool:
        """Send what is waiting; returns whether everything is sent."""
        with self._lock:
            return self.closed or self._flush()

    def has_hung_up(self) -> bool:
        """Whether the other end is closed, so that nobody waits for an answer."""
        seen, self.seen = self.seen, None
        if seen is not None:
            return bool(seen & (select.POLLHUP | select.POLLERR))
        return bool(self._hung_up.poll(0))

    def has_ended(self) -> bool:
        """Whether the process that connected is gone: its pid, and its end of the connection, may now be another's."""
        with self._lock:
            if self._process is not None and not self._ended:
                process = select.poll()
                process.register(self._process, select.POLLIN)
                self._ended = bool(process.poll(0))
            return self._ended

    def receive(self) -> bytes | None:
        """Read the bytes that have arrived; empty at the end, None if there are none yet."""
        try:
            return self.sock.recv(CHUNK)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def shut_down(self) -> None:
        """Hang up; the server's thread then closes it."""
        with self._lock:
            if not self.closed:
                with contextlib.suppress(OSError):
                    self.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with self._lock:
            self.closed = True
            self.sock.close()
            if self._process is not None:
                os.close(self._process)
                self._process = None

    def _flush(self) -> bool:
        while self._waiting:
            sent = self._send(self._waiting)
            if not sent:
                if len(self._waiting) > MAX_BACKLOG:
                    self._waiting.clear()
                    self.sock.shutdown(socket.SHUT_RDWR)
                    return True
                return False
            del self._waiting[:sent]
        return True

    def _send(self, data: bytes | bytearray) -> int:
        """How many bytes the kernel accepts now."""
        try:
            return self.sock.send(data)
        except BlockingIOError:
            return 0
        except OSError:
            # The peer is gone; the reading side notices and cleans up.
            return len(data)


@functools.lru_cache(maxsize=64)
def user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def is_trusted(uid: int) -> bool:
    """Whether a user may connect: the same user, and root, who could anyway."""
    return uid in (os.geteuid(), 0)
