"""Proxy: stands before the model's API, lets everything through as it is, and hands conversations to supervision."""

from __future__ import annotations

import logging
import selectors
import socket
import threading
from collections.abc import Mapping

import h11
import msgspec

from ...journal.interface import Reading
from ...runtime import Supervisor
from ...runtime.border import redact_text
from ...runtime.guard import Fault
from .adapter import ModelChoice
from .formats import format_of
from .memory import Memory
from .relay import relay, say_unreachable
from .talk import Talk
from .upstream import Trouble, Upstream
from .wire import Asked, Gone, Wire

log = logging.getLogger("interlock")


class Proxy:
    """One run's proxy on a listening socket that somebody else made.

    `upstreams` are the APIs behind /TOKEN/NAME; `steps` says whether calls and results are taken from the traffic, or
    told by hooks: then it only counts tokens, holds requests, injects messages and switches the model.
    """

    def __init__(
        self,
        listener: socket.socket,
        supervisor: Supervisor,
        upstreams: Mapping[str, str],
        token: str,
        *,
        choice: ModelChoice | None = None,
        steps: bool = True,
    ) -> None:
        self.supervisor = supervisor
        self.choice = choice or ModelChoice()
        self.steps = steps
        self.memory = Memory(supervisor.run)
        self.upstream = Upstream()
        self.spoken = False
        self.asks_usage = True
        self._told: set[str] = set()
        self._listener, self._upstreams, self._token = listener, dict(upstreams), token
        self._wires: set[Wire] = set()
        self._lock = threading.Lock()
        self._bell, self._ear = socket.socketpair()
        self._thread = threading.Thread(target=self._accept, name="interlock-proxy", daemon=True)

    def recall(self, journal: Reading) -> None:
        """Know what a predecessor knew."""
        self.memory.recall(journal)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """No more requests; those under way are cut."""
        self._bell.send(b"x")
        if self._thread.ident is not None:
            self._thread.join()
        with self._lock:
            wires = list(self._wires)
        for wire in wires:
            wire.close()
        self.supervisor.run.gate.notify()
        self.upstream.close()
        self._bell.close()
        self._ear.close()

    def address(self, target: str) -> str | None:
        """Where a request goes; None for one that is not meant for us."""
        path, mark, query = target.partition("?")
        start, token, name, *rest = (*path.split("/", 3), "", "")[:4]
        if start or token != self._token or name not in self._upstreams:
            return None
        return f"{self._upstreams[name]}/{rest[0] if rest else ''}{mark}{query}"

    def note_fault(self, fault: Fault) -> None:
        """Trouble of our own: recorded, and said once."""
        why = redact_text(fault.why)
        self.supervisor.scribe.fault(Fault(fault.part, why))
        if why not in self._told:
            self._told.add(why)
            log.warning("the proxy of run %s is impaired: %s", self.supervisor.run.spec.run_id, why)

    def _accept(self) -> None:
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._listener, selectors.EVENT_READ)
            waiting.register(self._ear, selectors.EVENT_READ)
            self._listener.setblocking(False)
            while not any(key.fileobj is self._ear for key, _ in waiting.select()):
                try:
                    sock, _ = self._listener.accept()
                except BlockingIOError:
                    continue
                sock.setblocking(True)
                wire = Wire(sock)
                with self._lock:
                    self._wires.add(wire)
                threading.Thread(target=self._serve, args=(wire,), name="interlock-proxied", daemon=True).start()

    def _serve(self, wire: Wire) -> None:
        """One connection to its end."""
        try:
            while (asked := wire.receive()) is not None:
                self._answer(wire, asked)
                if not wire.reusable:
                    return
        except (Gone, h11.RemoteProtocolError, *Trouble):
            # The client has hung up, speaks something else, or gets no more because there is no more.
            return
        finally:
            wire.close()
            with self._lock:
                self._wires.discard(wire)

    def _answer(self, wire: Wire, asked: Asked) -> None:
        url = self.address(asked.target)
        if url is None:
            wire.answer(404, "application/json", msgspec.json.encode({"error": {"message": "not found"}}))
            return
        form = format_of(asked.target) if asked.method == "POST" else None
        try:
            if form is None:
                relay(wire, self.upstream, asked, url)
            else:
                self.spoken = True
                Talk(self, wire, asked, url, form).run()
        except Trouble as error:
            if wire.begun:
                raise
            say_unreachable(wire, url, error)
