"""ThreadedLineServer: JSON lines over a unix socket, each answered by the thread that read it."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator

from ..core import POLLRDHUP, open_poller, open_wake_pipe, peer_credentials, register_exclusive
from .line_server import MAX_SKIP
from .peer import is_trusted

SPARE = 2
"""Threads that are started in advance: starting one costs as much as an answer."""

KEPT = 32
"""Idle threads that are kept."""

MOST = 1000
"""Simultaneous connections, each with a thread. For one more, an idle one is cut off."""

_CHUNK = 65_536

FULL_S = 0.05
SETTLE_POLL_S = 0.01
JOIN_S = 1.0

LARGE = 4 * 1024 * 1024
"""Lines that are longer are read and answered AT_ONCE at a time: each takes several times its size."""

AT_ONCE = 3
REST_S = 30.0
"""How long the rest of such a line may take."""

SIGN_S = 1.0

log = logging.getLogger("interlock")


def is_open(sock: socket.socket) -> bool:
    """Whether both ends of a connection are still open."""
    poll = select.poll()
    poll.register(sock, POLLRDHUP)
    return not poll.poll(0)


class LineClient:
    """A process that sends lines and waits for the answers: whether one is being answered now, and whether one was."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.busy = self.served = False
        self.pid = -1

    def waits(self) -> bool:
        return is_open(self.sock)

    def say_wait(self) -> None:
        """Send an empty line: the answer will come."""
        with contextlib.suppress(OSError):
            self.sock.send(b"\n", socket.MSG_DONTWAIT)

    def hang_up(self) -> None:
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)


LineHandler = Callable[[bytes, LineClient], bytes | None]
"""Returns the answer to a line; None if nobody waits for it any more."""


class ThreadedLineServer:
    """Lines of one connection are answered in order; connections do not delay each other."""

    def __init__(
        self, listener: socket.socket, answer: LineHandler, name: str, *, max_line: int, too_long: bytes
    ) -> None:
        self._listener, self._name = listener, name
        self._answer, self._max_line, self._too_long = answer, max_line, too_long
        self._room = threading.BoundedSemaphore(AT_ONCE)
        self._wake_reader, self._wake_writer = open_wake_pipe()
        self._open: dict[LineClient, None] = {}
        self._threads: set[threading.Thread] = set()
        self._idle = 0
        self._changed = threading.Condition()
        self.stopping = False
        listener.setblocking(False)

    def start(self) -> None:
        for _ in range(SPARE):
            self._start_thread()

    def hang_up(self) -> None:
        """Cut all connections, without answering."""
        with self._changed:
            for connection in self._open:
                connection.hang_up()

    def settle(self, seconds: float) -> None:
        """Return when everything that clients sent before they disconnected is handled, or after a timeout."""
        deadline, quiet = time.monotonic() + seconds, 0
        poller = select.poll()
        poller.register(self._listener, select.POLLIN)
        with self._changed:
            # Checked twice: an accepted connection is not in the list at once.
            while quiet < 2 and time.monotonic() < deadline:
                at_work = bool(poller.poll(0)) or any(each.busy or not each.waits() for each in self._open)
                quiet = 0 if at_work else quiet + 1
                self._changed.wait(SETTLE_POLL_S)

    def close(self, grace_s: float = 0.0) -> None:
        """Accept no more, wait for connections that are being answered, and stop. A second call does nothing."""
        with self._changed:
            if self.stopping:
                return
            self.stopping = True
            for connection in self._open:
                if not connection.busy:
                    connection.hang_up()
        os.write(self._wake_writer, b"!")
        with self._changed:
            self._changed.wait_for(lambda: not self._open, grace_s)
        self.hang_up()
        deadline = time.monotonic() + JOIN_S
        with self._changed:
            threads = self._threads - {threading.current_thread()}
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._listener.close()
        os.close(self._wake_reader)
        os.close(self._wake_writer)

    def _start_thread(self) -> None:
        thread = threading.Thread(target=self._attend, name=self._name, daemon=True)
        with self._changed:
            # Started while holding the lock: `close` waits for every known thread.
            self._idle += 1
            self._threads.add(thread)
            thread.start()

    def _attend(self) -> None:
        """Wait for connections and serve them, while this thread is needed."""
        try:
            with open_poller() as poller:
                # Exclusive: only one thread is woken for a connection, the same one while it is free.
                register_exclusive(poller, self._listener)
                poller.register(self._wake_reader, select.POLLIN)
                while not self.stopping:
                    poller.poll()
                    if not self.stopping and not self._accept():
                        return
        finally:
            with self._changed:
                self._threads.discard(threading.current_thread())

    def _accept(self) -> bool:
        """Serve one connection; returns whether to wait for another."""
        try:
            sock, _ = self._listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return True
        except OSError:
            # Out of file numbers: the connection waits, and so do we, rather than spin.
            time.sleep(FULL_S)
            return True
        connection = LineClient(sock)
        with self._changed:
            self._idle -= 1
            none_idle = not self._idle
            if len(self._open) >= MOST:
                self._make_room()
            self._open[connection] = None
        if none_idle:
            self._start_thread()
        try:
            self._serve_lines(connection)
        except Exception:
            # An error in one connection must not cost the others a thread.
            log.exception("a connection was cut: what it sent could not be handled")
        finally:
            with self._changed:
                self._open.pop(connection, None)
                self._changed.notify_all()
                stays = self._idle < KEPT
                self._idle += stays
            sock.close()
        return stays

    def _make_room(self) -> None:
        """Cut off the oldest connection that never sent anything, else the oldest that is not being answered."""
        idle = [connection for connection in self._open if not connection.busy]
        victim = next((connection for connection in idle if not connection.served), idle[0] if idle else None)
        if victim is not None:
            del self._open[victim]
            victim.hang_up()

    def _serve_lines(self, connection: LineClient) -> None:
        connection.pid, uid, _ = peer_credentials(connection.sock)
        if not is_trusted(uid):
            return
        for line in self._lines(connection):
            connection.busy = True
            answer = self._too_long if line is None else self._answer(line, connection)
            if answer is None or not _send(connection.sock, answer + b"\n"):
                return
            connection.busy, connection.served = False, True
            if self.stopping:
                return

    def _lines(self, connection: LineClient) -> Iterator[bytes | None]:
        """Lines without their ends; None for one that is too long, which is discarded."""
        with contextlib.ExitStack() as room:
            yield from self._read_lines(connection, room)

    def _wait_for_room(self, connection: LineClient, room: contextlib.ExitStack) -> bool:
        """Wait until another large line may be in memory; False if the client is gone."""
        while not self._room.acquire(timeout=SIGN_S):
            connection.say_wait()
            if self.stopping or not connection.waits():
                return False
        room.callback(self._room.release)
        # The rest must come: others wait for the room.
        connection.sock.settimeout(REST_S)
        room.callback(connection.sock.settimeout, None)
        return True

    def _read_lines(self, connection: LineClient, room: contextlib.ExitStack) -> Iterator[bytes | None]:
        received, skipped, since = bytearray(), 0, 0.0
        while data := _receive(connection.sock):
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
                    line = b""
                if since:
                    room.close()
                    since = 0.0
            if len(received) > LARGE and not since:
                if not self._wait_for_room(connection, room):
                    return
                since = time.monotonic()
            if since and time.monotonic() - since > REST_S:
                return
            if len(received) > self._max_line:
                if not skipped:
                    yield None
                skipped += len(received)
                received.clear()
                if skipped > max(MAX_SKIP, 2 * self._max_line):
                    return


def _receive(sock: socket.socket) -> bytes:
    """Read the next bytes; empty if the other end is gone."""
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
