"""Proxy: stands before the model's API, lets everything through as it is, and hands conversations to supervision."""

from __future__ import annotations

import logging
import socket
from collections.abc import Mapping

from ...core import PROCEED, Decision
from ...journal.interface import Reading
from ...records import Fault
from ...runtime.border import redact_text
from ...runtime.gate import HungUp
from ..steps.book import StepBook
from .adapter import ModelChoice
from .back import WayBack
from .door import Door
from .formats import format_of
from .memory import Memory
from .relay import relay
from .talk import Talk
from .upstream import Upstream
from .wire import Asked, Gone, Wire

log = logging.getLogger("interlock")


class Proxy:
    """One run's proxy on a listening socket that somebody else made.

    `steps` says whether calls and results are read from the traffic, or told by hooks: then requests are held and
    given messages and another model, and answers pass. `usage` says whether tokens are counted here.
    """

    def __init__(
        self,
        listener: socket.socket,
        book: StepBook,
        upstreams: Mapping[str, str],
        token: str,
        *,
        choice: ModelChoice | None = None,
        back: WayBack | None = None,
        steps: bool = True,
        usage: bool = True,
    ) -> None:
        self.book, self.supervisor = book, book.supervisor
        self.choice, self.back = choice or ModelChoice(), back or WayBack()
        self.steps, self.usage = steps, usage
        self.memory = Memory(self.supervisor.run)
        self.upstream = Upstream()
        self.asks_usage = usage
        self._told: set[str] = set()
        self._door = Door(listener, upstreams, token, self._answer)

    def recall(self, journal: Reading) -> None:
        """Know what a predecessor knew."""
        self.memory.recall(journal)

    def start(self) -> None:
        self._door.open()

    def close(self) -> None:
        """No more requests; those under way are cut."""
        self._door.close()
        self.supervisor.run.gate.notify()
        self.upstream.close()

    def note_fault(self, fault: Fault) -> None:
        """Trouble of our own: recorded, and said once."""
        why = redact_text(fault.why)
        self.supervisor.run.record(Fault(fault.part, why))
        if why not in self._told:
            self._told.add(why)
            log.warning("the proxy of run %s is impaired: %s", self.supervisor.run.spec.run_id, why)

    def _wait_while_paused(self, wire: Wire) -> None:
        """Hold what may ask a model in a way that we do not read."""
        gate = self.supervisor.run.gate
        held = Decision("hold", reason="the run is paused")
        try:
            gate.admit(lambda: held if gate.status in ("pausing", "paused") else PROCEED, waits=wire.waits)
        except HungUp:
            raise Gone from None

    def _answer(self, wire: Wire, asked: Asked, url: str) -> None:
        form = format_of(asked.target) if asked.method == "POST" else None
        if form is None:
            if asked.method == "POST":
                self._wait_while_paused(wire)
            relay(wire, self.upstream, asked, url)
        else:
            self.book.spoken = self.book.spoken or self.steps
            Talk(self, wire, asked, url, form).run()
