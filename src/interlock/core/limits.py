"""Limits of a run, what it has spent of them, and how fast that grows."""

from __future__ import annotations

import msgspec
from msgspec import Struct


class Limits(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a run may use; None means no limit."""

    max_tokens: int | None = None
    max_cost_usd: float | None = None
    max_steps: int | None = None
    max_file_operations: int | None = None
    max_memory_mb: int | None = None
    max_execution_time: float | None = None
    max_calls_per_minute: int | None = None
    max_processes: int | None = None
    batch_size: int | None = None

    def smaller(self, other: Limits) -> Limits:
        """The tighter of two, limit by limit."""
        return Limits(
            **{
                name: min((v for v in (getattr(self, name), getattr(other, name)) if v is not None), default=None)
                for name in self.__struct_fields__
            }
        )

    def replace(self, **changes: float | None) -> Limits:
        return msgspec.structs.replace(self, **changes)


class Spend(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a run has used so far; only ever grows, also across a rollback."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    steps: int = 0
    calls: int = 0
    file_operations: int = 0
    memory_mb: float = 0.0
    execution_time: float = 0.0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Growth(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """How much more was used in the last window than in the one before; 1.0 where nothing is known.

    `last_window` is the use in the last window, the starting point for a limit that was not set.
    """

    tokens: float = 1.0
    file_operations: float = 1.0
    memory_mb: float = 1.0
    execution_time: float = 1.0
    last_window: Spend = Spend()
