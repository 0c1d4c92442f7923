"""Which agent a command starts; most start none, and for those no client is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...core import HOOK_CLIENTS

if TYPE_CHECKING:
    from .wiring import Wiring

FIRST = frozenset(("claude", "codex", "gemini", "opencode", "npx", "bunx", "pnpx", "env"))
"""The first words of commands that may start a client of ours. Those of others are not known here."""


def recognise(argv: tuple[str, ...]) -> Wiring | None:
    """The wiring for the agent that this command starts; None if it starts none that we know."""
    if not argv or (program_of(argv) not in FIRST and not HOOK_CLIENTS.has_any()):
        return None
    from .clients import wiring_for

    return wiring_for(argv)


def program_of(argv: tuple[str, ...]) -> str:
    """The name of what a command starts."""
    return Path(argv[0]).name.removesuffix(".exe")
