"""StepServer: answers the steps that processes of the run tell on INTERLOCK_SOCKET, holding those that must wait."""

from __future__ import annotations

import queue
import socket
import threading
from collections import OrderedDict

import msgspec

from ...core import PROCEED, BadInput, Decision, Step
from ...journal.interface import Reading
from ...link import LineHandler, LineServer, Peer
from ...runtime import Supervisor
from ...runtime.records import StepRecord
from .lines import Phase, Refusal, Told, read_line, write_answer

REMEMBERED = 1024
"""Calls whose number is known, so that one that is told again after a lost connection is not counted twice."""

JOIN_S = 10.0


class StepServer(LineHandler):
    """A thread for each connection: lines of one connection are answered in order, connections hold up nobody else."""

    def __init__(self, listener: socket.socket, supervisor: Supervisor) -> None:
        self.spoken = False
        self._supervisor = supervisor
        self._server = LineServer(listener, self, "steps")
        self._desks: dict[Peer, _Desk] = {}
        self._known: OrderedDict[tuple[Phase, str, str], int] = OrderedDict()
        self._recalled: dict[int, Decision] = {}
        self._lock = threading.Lock()

    def recall(self, journal: Reading) -> None:
        """Know what a predecessor was told."""
        for record in journal.read(kinds=frozenset(("step",))):
            taken = msgspec.json.decode(record.body, type=StepRecord)
            step, self.spoken = taken.step, True
            call_id = step.tool.call_id if step.tool is not None else None
            if call_id is not None:
                phase: Phase = "before" if step.kind == "tool_call" else "after"
                self._remember((phase, step.agent or "", call_id), step.index)
                self._recalled[step.index] = taken.decision or PROCEED

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
        self.spoken = True
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

    def answer(self, peer: Peer, line: bytes) -> bytes | None:
        """The answer to one line, when it is due; None where nobody waits for it any more."""
        try:
            phase, told = read_line(line)
        except BadInput as error:
            return msgspec.json.encode(Refusal(str(error)))
        step, again = self._number(phase, told)
        if phase == "after":
            return write_answer(step, PROCEED if again else self._supervisor.after(step))
        decision = self._ask(peer, step)
        return None if decision is None else write_answer(step, decision)

    def _ask(self, peer: Peer, step: Step) -> Decision | None:
        """The decision, holds and delays waited out."""
        gate = self._supervisor.run.gate
        while not peer.closed:
            version = gate.version
            recalled = self._recalled.get(step.index) if gate.status == "running" else None
            decision = recalled or self._supervisor.before(step)
            if decision.action == "hold":
                gate.wait(version)
                continue
            if not decision.delay_s:
                return decision
            gate.wait(version, decision.delay_s)
            if gate.status == "running":
                return decision
        return None

    def _number(self, phase: Phase, told: Told) -> tuple[Step, bool]:
        """The step under its number; whether it was told before."""
        supervisor = self._supervisor
        call_id = told.tool.call_id if told.tool is not None else None
        with self._lock:
            key = (phase, told.agent or "", call_id) if call_id is not None else None
            index = self._known.get(key) if key is not None else None
            again = index is not None
            if index is None:
                index = supervisor.take_index()
                if key is not None:
                    self._remember(key, index)
        return told.step(supervisor.run.spec.run_id, index, phase), again

    def _remember(self, key: tuple[Phase, str, str], index: int) -> None:
        self._known[key] = index
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)


class _Desk:
    """Where one connection is served."""

    def __init__(self, peer: Peer, server: StepServer) -> None:
        self._peer, self._server = peer, server
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name="interlock-steps", daemon=True)
        self._thread.start()

    def take(self, line: bytes) -> None:
        self._lines.put(line)

    def close(self) -> None:
        self._lines.put(None)

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _serve(self) -> None:
        while (line := self._lines.get()) is not None:
            answer = self._server.answer(self._peer, line)
            if answer is not None:
                self._peer.send(answer)
