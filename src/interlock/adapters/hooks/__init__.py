"""Agents with hooks: Claude Code, Codex, Gemini CLI, opencode and those of plug-ins.

Wired in for one run, or installed permanently. Exports what a package that adds a client needs.
"""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)
