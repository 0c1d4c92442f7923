"""Whether another model can be asked for, as far as that is known before anybody asks."""

from __future__ import annotations

FIXED = frozenset(("process",))
"""Adapters that never switch models. A client with hooks may stand behind the proxy, which can: only the run knows."""


def why_not_switched(adapter: str) -> str:
    """Why a run cannot be escalated, in the words that the run would use; empty if it may be possible."""
    return f"the agent's adapter ({adapter}) cannot switch models" if adapter in FIXED else ""
