"""Proxy: forwards requests to the model's API, and passes conversations to supervision."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable

from ...core import PROCEED, Decision
from ...journal import JournalReading
from ...journal_records import Fault
from ...redact import redact_text
from ...runtime import HungUp
from ..steps.step_numbering import StepNumbering
from ..usage_limits import UsageLimit
from .adapter import ModelChoice, Rewind
from .body import AnswerTooLong, StreamCut
from .client_connection import ClientConnection, ClientGone, ClientRequest
from .conversation_memory import ConversationMemory
from .environment import Proxied
from .exchange import Exchange
from .formats import format_of
from .server import ProxyServer, Refused, ignore, relay
from .upstream import Upstream
from .upstream_connection import Traffic

log = logging.getLogger("interlock")


class Proxy:
    """A run's proxy on a given listening socket.

    `steps`: calls and results are read from the traffic; else hooks report them, and requests are only held and
    given messages and another model, and answers are forwarded. `usage`: tokens are counted here.
    """

    def __init__(
        self,
        listener: socket.socket,
        numbering: StepNumbering,
        proxied: Proxied,
        *,
        choice: ModelChoice | None = None,
        rewind: Rewind | None = None,
        steps: bool = True,
        usage: bool = True,
    ) -> None:
        self.numbering, self.supervisor = numbering, numbering.supervisor
        self.choice, self.rewind = choice or ModelChoice(), rewind or Rewind()
        self.steps, self.usage = steps, usage
        self.memory = ConversationMemory(self.supervisor.run)
        self.upstream = Upstream()
        self.asks_usage = usage
        self.traffic = Traffic()
        self.on_limit: Callable[[UsageLimit], None] = lambda _: None
        self.on_answer: Callable[[], None] = lambda: None
        self._logged: set[str] = set()
        self.on_refused: Refused = ignore
        self._server = ProxyServer(listener, proxied, self._answer, lambda *refused: self.on_refused(*refused))

    def recall(self, journal: JournalReading) -> None:
        """Restore a predecessor's state."""
        self.memory.recall(journal)

    def start(self) -> None:
        self._server.open()

    def close(self) -> None:
        """Accept no more requests, and cut those under way."""
        self._server.close()
        self.supervisor.run.gate.notify()
        self.upstream.close()

    def note_fault(self, fault: Fault) -> None:
        """Record a failure of ours, and log it once."""
        why = redact_text(fault.why)
        self.supervisor.run.record(Fault(fault.part, why))
        if why not in self._logged:
            self._logged.add(why)
            log.warning("the proxy of run %s is impaired: %s", self.supervisor.run.spec.run_id, why)

    def _wait_while_paused(self, client: ClientConnection) -> None:
        """Hold a request that may ask a model in an unknown format."""
        gate = self.supervisor.run.gate
        held = Decision("hold", reason="the run is paused")
        try:
            gate.admit(lambda: held if gate.status in ("pausing", "paused") else PROCEED, waits=client.waits)
        except HungUp:
            raise ClientGone from None

    def _answer(self, client: ClientConnection, asked: ClientRequest, url: str) -> None:
        form = format_of(asked.target) if asked.method == "POST" else None
        if form is None:
            if asked.method == "POST":
                self._wait_while_paused(client)
            relay(client, self.upstream, asked, url)
        else:
            self.numbering.spoken = self.numbering.spoken or self.steps
            try:
                Exchange(self, client, asked, url, form).run()
            except (AnswerTooLong, StreamCut) as error:
                self.note_fault(Fault("proxy", str(error)))
                raise
