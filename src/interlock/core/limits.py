"""Limits of a run, its usage, and how fast that grows."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Amount = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(gt=0)]


class Limits(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a run may use; None means no limit."""

    max_tokens: Annotated[Count | None, Meta(description="Input and output tokens together.")] = None
    max_cost_usd: Annotated[Amount | None, Meta(description="Dollars spent on models.")] = None
    max_steps: Annotated[
        Count | None, Meta(description="Tool calls of the agent; results and messages are not counted.")
    ] = None
    max_file_operations: Annotated[
        Count | None,
        Meta(
            description="Files that a step names; else one for each call of a file tool and each command that changes "
            "files. What cannot be seen, such as how many files a command writes, does not count."
        ),
    ] = None
    max_memory_mb: Annotated[Positive | None, Meta(description="Memory of all its processes together.")] = None
    max_execution_time: Annotated[Amount | None, Meta(description="Seconds from start to end.")] = None
    max_calls_per_minute: Annotated[Count | None, Meta(description="Tool calls and model requests a minute.")] = None
    max_processes: Annotated[Positive | None, Meta(description="Processes at a time; threads count too.")] = None
    max_cpu_percent: Annotated[Share | None, Meta(description="CPU as a percentage of one core; 200 is two.")] = None
    batch_size: Annotated[
        Positive | None, Meta(description="Files that one call may name: in a list, or as the operands of a command.")
    ] = None

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            # NaN is not below zero, but would never be reached either.
            if value is not None and not value >= 0:
                raise ValueError(f"{name} must be a number of at least 0, not {value}")

    def smaller(self, other: Limits) -> Limits:
        """The stricter of two, for each limit."""
        return Limits(
            **{
                name: min((v for v in (getattr(self, name), getattr(other, name)) if v is not None), default=None)
                for name in Limits.__struct_fields__
            }
        )

    def replace(self, **changes: float | None) -> Limits:
        return msgspec.structs.replace(self, **changes)


class Totals(Struct, kw_only=True):
    """What is added up for a run.

    `unpriced_tokens` are those without a known price: they are not in `cost_usd`.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced_tokens: int = 0
    steps: int = 0
    calls: int = 0
    file_operations: int = 0
    memory_mb: float = 0.0


class Spend(Totals, frozen=True, omit_defaults=True, kw_only=True):  # type: ignore[misc]  # msgspec allows it
    """What a run has used so far; never decreases, not even after a rollback."""

    execution_time: float = 0.0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Growth(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """How much more was used in the last window than in the one before; 1.0 if nothing is known.

    `last_window` is the use in the last window, the starting point for a limit that was not set.
    """

    tokens: float = 1.0
    file_operations: float = 1.0
    memory_mb: float = 1.0
    execution_time: float = 1.0
    last_window: Spend = Spend()
