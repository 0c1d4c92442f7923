"""The adapter for any process: what can be done to one that is silent, and to one that tells its steps."""

from __future__ import annotations

from ...core import Applied, Capability, Directive, Stop

SILENT: frozenset[Capability] = frozenset(("hold", "stop", "relaunch"))
"""A process whose steps are not visible: frozen to hold it, ended to stop it, started again with the same arguments."""

SPEAKING: frozenset[Capability] = SILENT | {"deny", "rewrite", "inject", "usage"}
"""One that asks on INTERLOCK_SOCKET before its steps and does as the answer says."""


PRINTING: frozenset[Capability] = SILENT | {"usage"}
"""One that prints its steps: they are observed, and nothing can be said back."""


class ProcessAdapter:
    """What a decision can ask for comes with the answer to a step, so only a process that reports steps gets it."""

    name = "process"

    def __init__(self) -> None:
        self.capabilities: frozenset[Capability] = SPEAKING

    def apply(self, directive: Directive) -> Applied:
        if isinstance(directive, Stop):
            return Applied(True, "sent with the reply to its step, if it asks for one")
        return Applied(True, "sent with the reply to its step")
