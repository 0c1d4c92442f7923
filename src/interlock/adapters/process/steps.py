"""StepServer: answers the steps that processes of the run tell on INTERLOCK_SOCKET, holding those that must wait."""

from __future__ import annotations

import queue
import socket
import threading
from typing import Protocol

import msgspec

from ...core import BadInput
from ...journal.interface import Reading
from ...link import LineHandler, LineServer, Peer
from ...runtime import Supervisor
from .book import Asker, StepBook
from .lines import Refusal, read_line, write_answer

MAX_STEP_LINE = 32 * 1024 * 1024
"""Bytes of one line here: hooks hand over whole files that an agent writes."""

JOIN_S = 10.0


class Listener(Protocol):
    """Whoever else is spoken to on this socket: the hooks of an agent's client."""

    def answer(self, line: bytes, asker: Asker) -> bytes | None:
        """The answer to a line of its own, when it is due; None where nobody waits for it any more."""
        ...


class StepServer(LineHandler):
    """A thread for each connection: lines of one connection are answered in order, connections hold up nobody else."""

    def __init__(self, listener: socket.socket, supervisor: Supervisor) -> None:
        self.book = StepBook(supervisor)
        self.hooks: Listener | None = None
        self._supervisor = supervisor
        self._server = LineServer(listener, self, "steps", max_line=MAX_STEP_LINE)
        self._desks: dict[Peer, _Desk] = {}

    @property
    def spoken(self) -> bool:
        """Whether any process of the run has told anything."""
        return self.book.spoken

    def recall(self, journal: Reading) -> None:
        """Know what a predecessor was told."""
        self.book.recall(journal)

    def start(self) -> None:
        self._server.start()

    def close(self) -> None:
        """Answer what is being answered, and stop."""
        desks = list(self._desks.values())
        for desk in desks:
            desk.close()
        self._supervisor.run.gate.notify()
        for desk in desks:
            desk.join(JOIN_S)
        self._server.close()

    def on_line(self, peer: Peer, line: bytes) -> None:
        desk = self._desks.get(peer)
        if desk is None:
            desk = self._desks[peer] = _Desk(peer, self)
        desk.take(line)

    def on_too_long(self, peer: Peer) -> None:
        peer.send(msgspec.json.encode(Refusal("the line is too long; shorten the content")))

    def on_closed(self, peer: Peer) -> None:
        desk = self._desks.pop(peer, None)
        if desk is not None:
            desk.close()
            self._supervisor.run.gate.notify()

    def answer(self, asker: Asker, line: bytes) -> bytes | None:
        """The answer to one line, when it is due; None where nobody waits for it any more."""
        if self.hooks is not None and line.startswith(b'{"hook":'):
            return self.hooks.answer(line, asker)
        self.book.spoken = True
        try:
            phase, told = read_line(line)
        except BadInput as error:
            return msgspec.json.encode(Refusal(str(error)))
        answered = self.book.after(told) if phase == "after" else self.book.before(told, asker)
        return None if answered is None else write_answer(*answered)


class _Desk:
    """Where one connection is served."""

    def __init__(self, peer: Peer, server: StepServer) -> None:
        self._peer, self._server = peer, server
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name="interlock-steps", daemon=True)
        self._thread.start()

    def waits(self) -> bool:
        return not self._peer.closed

    def say_wait(self) -> None:
        """An empty line: somebody is here, and the answer will come."""
        self._peer.send(b"")

    def take(self, line: bytes) -> None:
        self._lines.put(line)

    def close(self) -> None:
        self._lines.put(None)

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _serve(self) -> None:
        while (line := self._lines.get()) is not None:
            answer = self._server.answer(self, line)
            if answer is not None:
                self._peer.send(answer)
