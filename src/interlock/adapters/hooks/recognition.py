"""Recognises the agent that a command starts, without loading clients for other commands."""

from __future__ import annotations

from ...core import HOOK_CLIENTS
from .wiring import Wiring, program_of

FIRST = frozenset(("claude", "codex", "gemini", "opencode", "npx", "bunx", "pnpx", "env"))
"""The first words of commands that may start a built-in client. Those of plug-ins are not known here."""


def recognise(argv: tuple[str, ...]) -> Wiring | None:
    """The wiring for the agent that this command starts; None if it starts no known agent."""
    if not argv or (program_of(argv) not in FIRST and not HOOK_CLIENTS.has_any()):
        return None
    from .clients import wiring_for

    return wiring_for(argv)
