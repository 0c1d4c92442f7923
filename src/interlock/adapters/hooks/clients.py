"""The clients whose hooks we speak with."""

from __future__ import annotations

from ...core import Adapter
from ..process.adapter import ProcessAdapter
from .adapter import HookAdapter
from .claude_code import ClaudeCode
from .dialect import Dialect

DIALECTS: tuple[Dialect, ...] = (ClaudeCode(),)


def dialect_named(name: str) -> Dialect | None:
    return next((dialect for dialect in DIALECTS if dialect.name == name), None)


def adapter_named(name: str) -> Adapter:
    """The adapter of a run: the client's where it is one of ours, else that of any process."""
    dialect = dialect_named(name)
    return ProcessAdapter() if dialect is None else HookAdapter(dialect.name, dialect.capabilities)
