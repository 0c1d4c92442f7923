"""Actuator: the gate file alone; an agent that obeys it needs no more."""

from __future__ import annotations

from interlock.control import Desired, Execute, Executed
from interlock.core import Applied
from interlock.link import FileGate


class Actuator:
    """Opens and shuts the gate; every order counts as carried out."""

    def __init__(self, gate: FileGate) -> None:
        self._gate = gate

    @property
    def revision(self) -> int:
        return self._gate.revision

    def set_desired(self, desired: Desired) -> Applied | None:
        return self._gate.set_desired(desired)

    def rest(self) -> None:
        self._gate.rest()

    def execute(self, order: Execute) -> Executed | None:
        return Executed(order.request_id, True)
