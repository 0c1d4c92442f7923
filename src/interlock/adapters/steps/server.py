"""StepServer: answers the steps that processes of the run tell on INTERLOCK_SOCKET, holding those that must wait."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Protocol

import msgspec

from ...core import BadInput
from ...journal.interface import Reading
from ...link import LineCounter, listen
from ...runtime import Supervisor
from .book import Asker, StepBook
from .lines import Refusal, read_line, write_answer

MAX_STEP_LINE = 32 * 1024 * 1024
"""Bytes of one line here: hooks hand over whole files that an agent writes."""

JOIN_S = 10.0

TOO_LONG = msgspec.json.encode(Refusal("the line is too long; shorten the content"))


class Listener(Protocol):
    """Whoever else is spoken to on this socket: the hooks of an agent's client."""

    def answer(self, line: bytes, asker: Asker) -> bytes | None:
        """The answer to a line of its own, when it is due; None where nobody waits for it any more."""
        ...


class StepServer:
    """Lines of one connection are answered in order, connections hold up nobody else."""

    def __init__(self, listener: socket.socket, supervisor: Supervisor) -> None:
        self.book = StepBook(supervisor)
        self.hooks: Listener | None = None
        self._supervisor = supervisor
        self._counters = [self._serve(listener)]

    @property
    def spoken(self) -> bool:
        """Whether any process of the run has told anything."""
        return self.book.spoken

    def recall(self, journal: Reading) -> None:
        """Know what a predecessor was told."""
        self.book.recall(journal)

    def start(self) -> None:
        for counter in self._counters:
            counter.start()

    def bind_again(self, path: Path) -> None:
        """The socket was removed: listen at the same place once more."""
        path.parent.mkdir(mode=0o700, exist_ok=True)
        counter = self._serve(listen(path))
        self._counters.append(counter)
        counter.start()

    def close(self) -> None:
        """Answer what is being answered, and stop."""
        self._supervisor.run.gate.notify()
        for counter in self._counters:
            counter.close(JOIN_S)

    def _serve(self, listener: socket.socket) -> LineCounter:
        return LineCounter(listener, self.answer, "steps", max_line=MAX_STEP_LINE, too_long=TOO_LONG)

    def answer(self, line: bytes, asker: Asker) -> bytes | None:
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
