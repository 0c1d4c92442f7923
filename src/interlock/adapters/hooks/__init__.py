"""Agents with hooks: Claude Code, Codex, Gemini CLI, opencode and those of plug-ins.

Wired in for one run, or installed for good. What is exported here is what a package needs that adds a client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._lazy import lazy

if TYPE_CHECKING:
    from .client_build import hook_command
    from .clients import HookClient, register_hook_client, unregister_hook_client
    from .dialect import Dialect, Payload
    from .event import HookEvent, ToolOutcome, TranscriptEntry
    from .wiring import HookWords, RunAddress, Wired, Wiring

__all__ = [
    "Dialect", "HookClient", "HookEvent", "HookWords", "Payload", "RunAddress", "ToolOutcome", "TranscriptEntry",
    "Wired", "Wiring", "hook_command", "register_hook_client", "unregister_hook_client",
]  # fmt: skip

__getattr__ = lazy(
    __name__,
    {
        "client_build": ("hook_command",),
        "clients": ("HookClient", "register_hook_client", "unregister_hook_client"),
        "dialect": ("Dialect", "Payload"),
        "event": ("HookEvent", "ToolOutcome", "TranscriptEntry"),
        "wiring": ("HookWords", "RunAddress", "Wired", "Wiring"),
    },
)
