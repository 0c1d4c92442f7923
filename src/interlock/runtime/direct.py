"""Direct: the adapter of whoever calls the supervisor from their own code and acts on its decisions."""

from __future__ import annotations

from ..core import Applied, Capability, Directive


class Direct:
    """Can do whatever a decision says; it has no conversation of its own and cannot start itself again."""

    name = "direct"
    capabilities: frozenset[Capability] = frozenset(("deny", "rewrite", "inject", "hold", "stop", "usage"))

    def apply(self, directive: Directive) -> Applied:
        return Applied(True, "said in the decision")
