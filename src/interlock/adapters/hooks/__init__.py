"""Agents with hooks: Claude Code, Codex, Gemini CLI, opencode and those of plug-ins.

Wired in for one run, or installed for good. What is exported here is what a package needs that adds a client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._lazy import lazy

if TYPE_CHECKING:
    from .building import hook_command
    from .clients import HookClient, register_hook_client, unregister_hook_client
    from .dialect import Dialect, Payload
    from .event import Event, Outcome, Said
    from .wiring import HookWords, Place, Wired, Wiring

__all__ = [
    "Dialect", "Event", "HookClient", "HookWords", "Outcome", "Payload", "Place", "Said", "Wired", "Wiring",
    "hook_command", "register_hook_client", "unregister_hook_client",
]  # fmt: skip

__getattr__ = lazy(
    __name__,
    {
        "building": ("hook_command",),
        "clients": ("HookClient", "register_hook_client", "unregister_hook_client"),
        "dialect": ("Dialect", "Payload"),
        "event": ("Event", "Outcome", "Said"),
        "wiring": ("HookWords", "Place", "Wired", "Wiring"),
    },
)
