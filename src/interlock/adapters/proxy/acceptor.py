"""Acceptor: takes the connections of a listening socket that the caller made, until it is closed."""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Callable


class Acceptor:
    """A thread that hands each new connection over; `serve` starts a thread for one of them."""

    def __init__(self, listener: socket.socket, take: Callable[[socket.socket], None], name: str) -> None:
        self._listener, self._take, self._name = listener, take, name
        self._bell, self._ear = socket.socketpair()
        self._thread = threading.Thread(target=self._accept, name=f"interlock-{name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """No more connections."""
        self._bell.send(b"x")
        if self._thread.ident is not None:
            self._thread.join()
        self._bell.close()
        self._ear.close()

    def serve(self, target: Callable[[], None]) -> None:
        """A thread for one connection."""
        threading.Thread(target=target, name=f"interlock-{self._name}-connection", daemon=True).start()

    def _accept(self) -> None:
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._listener, selectors.EVENT_READ)
            waiting.register(self._ear, selectors.EVENT_READ)
            self._listener.setblocking(False)
            while not any(key.fileobj is self._ear for key, _ in waiting.select()):
                try:
                    sock, _ = self._listener.accept()
                except (BlockingIOError, ConnectionAbortedError):
                    continue
                sock.setblocking(True)
                self._take(sock)
