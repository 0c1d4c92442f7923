"""Step: one thing that an agent said, asked a tool to do, or got back."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Role = Literal["assistant", "tool", "user", "system"]
Kind = Literal["message", "tool_call", "tool_result", "usage"]
Origin = Literal["agent", "interlock"]

STEP_VERSION = 1


class Tool(Struct, frozen=True, omit_defaults=True):
    """A call of a tool; `call_id` joins it with its result."""

    name: str
    arguments: dict[str, object] = {}
    call_id: str | None = None


class Paths(Struct, frozen=True, omit_defaults=True):
    """The files that a step is known to have touched."""

    read: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()


class Usage(Struct, frozen=True, omit_defaults=True):
    """What a step cost. `input_tokens` is the whole prompt; the cache fields say which part of it was cached."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Step(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One step of a run, redacted and bounded on arrival.

    `time` is seconds since the epoch; None if the source does not give it.
    `origin` is interlock for our own refusals and messages: they never count as the agent's.
    """

    run_id: str
    index: int
    role: Role
    kind: Kind = "message"
    content: str = ""
    tool: Tool | None = None
    error: bool | None = None
    exit_code: int | None = None
    paths: Paths | None = None
    usage: Usage | None = None
    agent: str | None = None
    model: str | None = None
    time: float | None = None
    duration_ms: float | None = None
    origin: Origin = "agent"
    v: int = STEP_VERSION


def derive_kind(role: Role, tool: Tool | None, content: str = "") -> Kind:
    """The kind of a step whose source does not state it."""
    if role == "tool":
        return "tool_result"
    return "tool_call" if tool is not None else "message"
