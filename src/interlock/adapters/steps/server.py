"""StepServer: answers steps that a run's processes report on INTERLOCK_SOCKET, and holds those that must wait."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec

from ...core import BadInput
from ...journal import JournalReading
from ...link import ThreadedLineServer, listen
from ...runtime import Supervisor
from .step_numbering import StepNumbering, WaitingClient
from .step_protocol import StepRefusal, read_line, write_answer

MAX_STEP_LINE = 32 * 1024 * 1024
"""The most bytes of a line: hooks send whole files that an agent writes."""

JOIN_S = 10.0
SETTLE_S = 2.0

TOO_LONG = msgspec.json.encode(StepRefusal("the line is too long; shorten the content"))


PRINTED = b'{"printed":'
"""The prefix of a step that the command printed: the copier reports it, and nobody waits for a decision."""


class HookListener(Protocol):
    """Handles the hooks of an agent client, which use the same socket."""

    def answer(self, line: bytes, client: WaitingClient) -> bytes | None:
        """The answer to a hook line; None if the client is gone."""


class StepServer:
    """Answers the lines of one connection in order; connections do not delay each other."""

    def __init__(self, listener: socket.socket, supervisor: Supervisor) -> None:
        self.numbering = StepNumbering(supervisor)
        self.hooks: HookListener | None = None
        self.on_printed: Callable[[], None] | None = None
        self._asked = False
        self._supervisor = supervisor
        self._servers = [self._serve(listener)]

    @property
    def spoken(self) -> bool:
        """Whether any process of the run has reported anything."""
        return self.numbering.spoken

    def recall(self, journal: JournalReading) -> None:
        """Restore a predecessor's state."""
        self.numbering.recall(journal)

    def start(self) -> None:
        for server in self._servers:
            server.start()

    def bind_again(self, path: Path) -> None:
        """Listen at the same path again after the socket was removed."""
        path.parent.mkdir(mode=0o700, exist_ok=True)
        server = self._serve(listen(path))
        self._servers.append(server)
        server.start()

    def settle(self) -> None:
        """Wait until everything that processes reported before they ended has been handled."""
        if self.spoken:
            for server in self._servers:
                server.settle(SETTLE_S)

    def close(self) -> None:
        """Finish the answers in progress, and stop."""
        self._supervisor.run.gate.notify()
        for server in self._servers:
            server.close(JOIN_S)

    def _serve(self, listener: socket.socket) -> ThreadedLineServer:
        return ThreadedLineServer(listener, self.answer, "steps", max_line=MAX_STEP_LINE, too_long=TOO_LONG)

    def answer(self, line: bytes, client: WaitingClient) -> bytes | None:
        """The answer to one line; None if the client is gone."""
        if self.hooks is not None and line.startswith(b'{"hook":'):
            return self.hooks.answer(line, client)
        if line.startswith(PRINTED) and (self.on_printed is None or self._asked):
            # A process that asks before its steps must not be downgraded to one that only prints them.
            return msgspec.json.encode(StepRefusal("printed steps are not read here"))
        self.numbering.spoken = True
        printed = line.startswith(PRINTED)
        self._asked = self._asked or not printed
        try:
            phase, message = read_line(line.strip()[len(PRINTED) : -1] if printed else line)
        except BadInput as error:
            return msgspec.json.encode(StepRefusal(str(error)))
        if printed and self.on_printed is not None:
            self.on_printed()
            (self.numbering.after if phase == "after" else self.numbering.note_call)(message)
            return b"{}"
        answered = self.numbering.after(message) if phase == "after" else self.numbering.before(message, client)
        return None if answered is None else write_answer(*answered)
