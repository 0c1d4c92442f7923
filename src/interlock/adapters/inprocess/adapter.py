"""InProcessAdapter: for an agent that lives in this process; directives take effect at the agent's next turn."""

from __future__ import annotations

from collections.abc import Callable

from ...core import Applied, Capability, Directive, Restore, Stop, SwitchModel


class InProcessAdapter:
    """One for each session. `model` is the model that was asked for, `back_to` the checkpoint to go back to."""

    def __init__(self, name: str, capabilities: frozenset[Capability]) -> None:
        self.name = name
        self.capabilities = capabilities
        self.model: str | None = None
        self.back_to: str | None = None
        self.on_stop: Callable[[], str] = lambda: "ends at its next turn"

    def apply(self, directive: Directive) -> Applied:
        match directive:
            case SwitchModel(model):
                if "switch_model" not in self.capabilities:
                    return Applied(False, f"{self.name} cannot switch models")
                self.model = model
                return Applied(True, "from the next request on")
            case Restore(checkpoint_id):
                self.back_to = checkpoint_id
                return Applied(True, "the conversation is rolled back at the next request")
            case Stop():
                return Applied(True, self.on_stop())
            case _:
                return Applied(True, "sent with the reply to its step")
