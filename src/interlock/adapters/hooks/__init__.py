"""Agents with hooks: Claude Code, Codex, Gemini CLI, opencode and those of plug-ins.

Wired in for one run, or installed permanently. What is exported here is what a package needs that adds a client.
"""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)
