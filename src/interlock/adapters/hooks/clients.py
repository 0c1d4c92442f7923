"""The clients whose hooks we speak with."""

from __future__ import annotations

from ...core import Adapter
from ..process.adapter import ProcessAdapter
from .adapter import HookAdapter
from .claude_code import ClaudeCode
from .codex import Codex
from .dialect import Dialect
from .gemini import Gemini
from .opencode import Opencode

NAMES = (ClaudeCode.name, Codex.name, Gemini.name, Opencode.name)


def new_dialects() -> tuple[Dialect, ...]:
    """One of each, for one run: some remember which calls are under way."""
    return (ClaudeCode(), Codex(), Gemini(), Opencode())


def dialect_named(name: str) -> Dialect | None:
    return next((dialect for dialect in new_dialects() if dialect.name == name), None)


def adapter_named(name: str) -> Adapter:
    """The adapter of a run: the client's where it is one of ours, else that of any process."""
    dialect = dialect_named(name)
    return ProcessAdapter() if dialect is None else HookAdapter(dialect.name, dialect.capabilities)
