"""LineServer: JSON lines over a unix socket that only its user can use; one thread, no polling."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import socket
import threading
import time

from ..core import open_poller, open_wake_pipe
from .peer import CHUNK, Peer, is_trusted

MAX_LINE = 262_144
"""The most bytes of one line. Longer ones are read to their end and discarded."""

MAX_SKIP = 64 * 1024 * 1024
"""Bytes of one line that are discarded before the connection is cut."""

FULL_S = 0.05

AT_ONCE = 32
"""Connections that are served per poll."""

log = logging.getLogger("interlock")


class LineHandler:
    """Handles a server's input. Called in the server's thread."""

    def on_line(self, peer: Peer, line: bytes) -> None:
        """A whole line, without its end."""

    def on_too_long(self, peer: Peer) -> None:
        """A line of more than MAX_LINE bytes has begun; the rest of it will be skipped."""

    def on_refused(self, peer: Peer) -> None:
        """Another user connected; the connection is closed after this."""

    def on_closed(self, peer: Peer) -> None:
        """The connection has ended."""


class LineServer:
    """Serves one listening socket until it is closed."""

    def __init__(self, listener: socket.socket, handler: LineHandler, name: str = "lines") -> None:
        self._listener, self._handler = listener, handler
        self._epoll = open_poller()
        self._peers: dict[int, Peer] = {}
        self._wake_reader, self._wake_writer = open_wake_pipe()
        self._stuck: set[Peer] = set()
        self._lock = threading.Lock()
        self._stopping = self._ended = False
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        listener.setblocking(False)
        self._epoll.register(listener, select.POLLIN)
        self._epoll.register(self._wake_reader, select.POLLIN)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Stop serving and close all connections. A second call does nothing."""
        if self._stopping:
            return
        self._stopping = True
        if self._thread.ident is None:
            self._end()
            return
        self._ring()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _ring(self) -> None:
        # Under the lock: a closed descriptor number may already belong to another file.
        with self._lock, contextlib.suppress(BlockingIOError):
            if not self._ended:
                os.write(self._wake_writer, b"!")

    def _wake_for(self, peer: Peer) -> None:
        """Have the thread send what did not fit into a peer's socket buffer."""
        with self._lock:
            self._stuck.add(peer)
        self._ring()

    def _serve(self) -> None:
        try:
            while not self._stopping:
                fresh = True
                for number, events in self._epoll.poll(maxevents=AT_ONCE):
                    peer = self._peers.get(number)
                    if peer is not None:
                        peer.seen = events if fresh else None
                        self._attend(peer, events)
                    elif number == self._wake_reader:
                        self._answer_wake_reader()
                    else:
                        self._accept()
                    fresh = False
        finally:
            self._end()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError:
                # Out of file descriptors: the connection waits, and so do we, rather than spin.
                time.sleep(FULL_S)
                return
            sock.setblocking(False)
            try:
                peer = Peer(sock, self._wake_for)
            except OSError:
                sock.close()
                time.sleep(FULL_S)
                return
            if is_trusted(peer.uid):
                self._peers[sock.fileno()] = peer
                self._epoll.register(sock, select.POLLIN)
            else:
                self._handler.on_refused(peer)
                peer.close()

    def _answer_wake_reader(self) -> None:
        os.read(self._wake_reader, CHUNK)
        with self._lock:
            stuck, self._stuck = self._stuck, set()
        for peer in stuck:
            if not peer.closed and not peer.flush():
                self._epoll.modify(peer.sock, select.POLLIN | select.POLLOUT)

    def _attend(self, peer: Peer, events: int) -> None:
        try:
            if events & select.POLLOUT and peer.flush():
                self._epoll.modify(peer.sock, select.POLLIN)
            if events != select.POLLOUT:
                data = peer.receive()
                if data:
                    self._receive(peer, data)
                elif data is not None:
                    self._drop(peer)
        except Exception:
            # Whatever one message causes must not stop the service for others.
            log.exception("a connection was cut: what it sent could not be handled")
            if not peer.closed:
                self._drop(peer)

    def _receive(self, peer: Peer, data: bytes) -> None:
        lines = (peer.received + data if peer.received else data).split(b"\n")
        peer.received = lines.pop()
        for line in lines:
            if peer.skipping:
                peer.skipping = False
            elif len(line) > MAX_LINE:
                self._handler.on_too_long(peer)
            elif line and not line.isspace():
                self._handler.on_line(peer, line)
        if len(peer.received) > MAX_LINE:
            if not peer.skipping:
                peer.skipping = True
                self._handler.on_too_long(peer)
            peer.skipped += len(peer.received)
            peer.received = b""
            if peer.skipped > MAX_SKIP:
                self._drop(peer)

    def _drop(self, peer: Peer) -> None:
        del self._peers[peer.sock.fileno()]
        self._epoll.unregister(peer.sock)
        peer.close()
        self._handler.on_closed(peer)

    def _end(self) -> None:
        for peer in list(self._peers.values()):
            self._drop(peer)
        self._epoll.close()
        self._listener.close()
        with self._lock:
            self._ended = True
            os.close(self._wake_reader)
            os.close(self._wake_writer)
