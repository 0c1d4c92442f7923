"""HookAdapter: a client that is reached through its hooks. What a decision asks for comes with a hook's reply."""

from __future__ import annotations

from ...core import Applied, Capability, Directive, Stop, SwitchModel


class HookAdapter:
    """Capabilities are the dialect's; a model is switched to by the client's next request, where it can."""

    def __init__(self, name: str, capabilities: frozenset[Capability]) -> None:
        self.name = name
        self.capabilities = capabilities
        self.model: str | None = None

    def apply(self, directive: Directive) -> Applied:
        match directive:
            case SwitchModel(model) if "switch_model" in self.capabilities:
                self.model = model
                return Applied(True, f"{model} from the next request on")
            case SwitchModel():
                return Applied(False, f"{self.name} cannot switch models through its hooks")
            case Stop():
                return Applied(True, "sent with the reply to its next hook")
            case _:
                return Applied(True, "sent with the reply to its hook")
