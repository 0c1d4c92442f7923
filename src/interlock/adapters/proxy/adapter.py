"""The adapter for an agent behind the proxy: its capabilities, model switches and rollbacks of its conversation."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from ...core import Adapter, Applied, Capability, Directive, Restore, Stop, SwitchModel
from ...runtime import PERSON

PROXIED: frozenset[Capability] = frozenset(
    ("deny", "rewrite", "inject", "hold", "stop", "switch_model", "usage", "conversation", "relaunch")
)
"""Everything but deferring."""


class ModelChoice:
    """The model to use from now on; None: the one that the agent names. Resolves our aliases."""

    def __init__(self, aliases: Mapping[str, str] | None = None) -> None:
        self.model: str | None = None
        self._aliases = aliases or {}

    def switch(self, model: str) -> str:
        """Use this model; returns its name in the API."""
        self.model = self._aliases.get(model, model)
        return self.model


class ProxyAdapter:
    """Applies decisions to the next request or to the current answer."""

    name = "proxy"
    capabilities: frozenset[Capability] = PROXIED

    def __init__(self, choice: ModelChoice | None = None, rewind: Rewind | None = None) -> None:
        self.choice, self.rewind = choice or ModelChoice(), rewind or Rewind()

    def apply(self, directive: Directive) -> Applied:
        if isinstance(directive, Restore):
            if directive.paths and directive.reason == PERSON:
                return Applied(False, "only some paths were restored")
            if not self.rewind.carries:
                return Applied(False, "no conversation has come through the proxy")
            self.rewind.order(directive.checkpoint_id)
            return Applied(True, "the model sees an earlier conversation from the next request on")
        if isinstance(directive, SwitchModel):
            return Applied(True, f"{self.choice.switch(directive.model)} is asked from the next request on")
        if isinstance(directive, Stop):
            return Applied(True, "its next request is answered with the end of its turn")
        return Applied(True, "applied to its next request or response")


class SwitchingAdapter:
    """Another adapter's agent behind the proxy, which switches its model and rolls back its conversation."""

    def __init__(self, adapter: Adapter, choice: ModelChoice, rewind: Rewind) -> None:
        self.name = adapter.name
        self.capabilities: frozenset[Capability] = adapter.capabilities | {"switch_model", "usage", "conversation"}
        self._adapter, self._proxied = adapter, ProxyAdapter(choice, rewind)

    def apply(self, directive: Directive) -> Applied:
        if isinstance(directive, (SwitchModel, Restore)):
            return self._proxied.apply(directive)
        return self._adapter.apply(directive)


class Rewind:
    """A rollback of conversations, applied to each agent of the run at its next request. Thread-safe.

    `carries`: a conversation has come through the proxy, as a client may get its API's address elsewhere.
    """

    def __init__(self) -> None:
        self.carries = False
        self._lock = threading.Lock()
        self._checkpoint: str | None = None
        self._gone: set[str | None] = set()

    def order(self, checkpoint_id: str) -> None:
        """Roll back to this checkpoint."""
        with self._lock:
            self._checkpoint, self._gone = checkpoint_id, set()

    def pop(self, agent: str | None) -> str | None:
        """The checkpoint to roll this agent's conversation back to, returned once; else None."""
        with self._lock:
            if self._checkpoint is None or agent in self._gone:
                return None
            self._gone.add(agent)
            return self._checkpoint
