"""AcceptThreads: threads that share one listening socket; the thread that accepts a connection serves it."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import socket
import threading
import time
from collections.abc import Callable

from ..core import POLLRDHUP, open_bell, open_poller, register_exclusive

SPARE = 4
"""Threads that wait from the start: starting one costs as much as an answer."""

KEPT = 32
"""Threads that stay when a crowd has gone."""

MOST = 1000
"""Connections at one time, each with its thread. For one more, an idle one is cut off."""

FULL_S = 0.05
SETTLE_LOOK_S = 0.01
JOIN_S = 1.0

log = logging.getLogger("interlock")


class AcceptedConnection:
    """One connection, whether it is being answered right now, and whether it ever was."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.busy = self.served = False

    def waits(self) -> bool:
        """Whether the other end is still there, and so are we."""
        poll = select.poll()
        poll.register(self.sock, POLLRDHUP)
        return not poll.poll(0)

    def hang_up(self) -> None:
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)


class AcceptThreads:
    """Serves a listening socket with `serve`, which returns when its connection is over, until it is closed."""

    def __init__(self, listener: socket.socket, serve: Callable[[AcceptedConnection], None], name: str) -> None:
        self._listener, self._serve, self._name = listener, serve, name
        self._bell, self._doorbell = open_bell()
        self._open: dict[AcceptedConnection, None] = {}
        self._threads: set[threading.Thread] = set()
        self._idle = 0
        self._changed = threading.Condition()
        self.stopping = False
        listener.setblocking(False)

    def start(self) -> None:
        for _ in range(SPARE):
            self._hire()

    def hang_up(self) -> None:
        """Cut all connections: no one is answered any more."""
        with self._changed:
            for desk in self._open:
                desk.hang_up()

    def settle(self, seconds: float) -> None:
        """Return when what others sent before they went is dealt with, or after so long."""
        deadline, quiet = time.monotonic() + seconds, 0
        door = select.poll()
        door.register(self._listener, select.POLLIN)
        with self._changed:
            # Looked at twice: one that has been accepted is not in the list at once.
            while quiet < 2 and time.monotonic() < deadline:
                at_work = bool(door.poll(0)) or any(desk.busy or not desk.waits() for desk in self._open)
                quiet = 0 if at_work else quiet + 1
                self._changed.wait(SETTLE_LOOK_S)

    def close(self, grace_s: float = 0.0) -> None:
        """Accept no one more, wait for those who are being answered, and stop. A second time does nothing."""
        with self._changed:
            if self.stopping:
                return
            self.stopping = True
            for desk in self._open:
                if not desk.busy:
                    desk.hang_up()
        os.write(self._doorbell, b"!")
        with self._changed:
            self._changed.wait_for(lambda: not self._open, grace_s)
        self.hang_up()
        deadline = time.monotonic() + JOIN_S
        with self._changed:
            threads = self._threads - {threading.current_thread()}
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._listener.close()
        os.close(self._bell)
        os.close(self._doorbell)

    def _hire(self) -> None:
        thread = threading.Thread(target=self._attend, name=self._name, daemon=True)
        with self._changed:
            # Started in here: closing waits for every thread that is known.
            self._idle += 1
            self._threads.add(thread)
            thread.start()

    def _attend(self) -> None:
        """Wait for connections and serve them, as long as there is need of this thread."""
        try:
            with open_poller() as door:
                # Exclusive: one thread is woken for a connection, and the same one as long as it is free.
                register_exclusive(door, self._listener)
                door.register(self._bell, select.POLLIN)
                while not self.stopping:
                    door.poll()
                    if not self.stopping and not self._accept():
                        return
        finally:
            with self._changed:
                self._threads.discard(threading.current_thread())

    def _accept(self) -> bool:
        """Serve one connection; whether to wait for another."""
        try:
            sock, _ = self._listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return True
        except OSError:
            # Out of file numbers: the connection waits, and so do we, rather than spin.
            time.sleep(FULL_S)
            return True
        desk = AcceptedConnection(sock)
        with self._changed:
            self._idle -= 1
            alone = not self._idle
            if len(self._open) >= MOST:
                self._make_room()
            self._open[desk] = None
        if alone:
            self._hire()
        try:
            self._serve(desk)
        except Exception:
            # Whatever one connection led to must not cost the others a thread.
            log.exception("a connection was cut: what it sent could not be handled")
        finally:
            with self._changed:
                self._open.pop(desk, None)
                self._changed.notify_all()
                stays = self._idle < KEPT
                self._idle += stays
            sock.close()
        return stays

    def _make_room(self) -> None:
        """Cut off the oldest that never asked anything; if all have, the oldest that is not being answered."""
        idle = [desk for desk in self._open if not desk.busy]
        victim = next((desk for desk in idle if not desk.served), idle[0] if idle else None)
        if victim is not None:
            del self._open[victim]
            victim.hang_up()
