"""What each Python framework lets us do, known without importing it."""

from __future__ import annotations

from ..core import Capability

_LOOP: frozenset[Capability] = frozenset(("deny", "rewrite", "inject", "hold", "stop", "usage"))
"""What every agent loop in this process can do: its calls pass through our hands, and so do its requests."""

LANGCHAIN: frozenset[Capability] = _LOOP | {"switch_model", "conversation"}
OPENAI_AGENTS: frozenset[Capability] = _LOOP | {"switch_model", "conversation"}
PYDANTIC_AI: frozenset[Capability] = _LOOP | {"switch_model", "conversation"}
CLAUDE_AGENT_SDK: frozenset[Capability] = _LOOP | {"switch_model"}
MINI_SWE_AGENT: frozenset[Capability] = _LOOP | {"switch_model", "conversation"}
SMOLAGENTS: frozenset[Capability] = _LOOP | {"switch_model", "conversation"}
