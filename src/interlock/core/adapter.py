"""Adapter: how Interlock reaches one kind of agent, and what that agent supports."""

from __future__ import annotations

from typing import Literal, Protocol, get_args

from msgspec import Struct

from .decision import Directive

Capability = Literal[
    "deny", "rewrite", "inject", "hold", "defer", "stop", "switch_model", "usage", "conversation", "relaunch"
]

EVERY_CAPABILITY: frozenset[Capability] = frozenset(get_args(Capability))


class Applied(Struct, frozen=True, omit_defaults=True):
    """Whether a directive was carried out, and how (or why not)."""

    ok: bool
    how: str = ""


class Adapter(Protocol):
    """One kind of agent."""

    name: str
    capabilities: frozenset[Capability]

    def apply(self, directive: Directive) -> Applied:
        """Carry out a directive; a failure is returned as Applied(False, why), never raised."""
        ...
