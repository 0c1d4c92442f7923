"""HookEvent: what a hook of some client says, in words that are the same for every client."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ...core import Tool, Usage

Moment = Literal[
    "begin", "prompt", "before", "after", "batch", "model", "settings", "turn_end", "limited", "end", "other"
]  # fmt: skip
"""When in a session a hook fires; `batch` is the complete feed of a turn, `model` a request to the model, `limited` one
that the API refuses for now."""


class ToolOutcome(Struct, frozen=True, kw_only=True):
    """The result of one call."""

    tool: Tool
    content: str = ""
    error: bool | None = None
    exit_code: int | None = None
    duration_ms: float | None = None


class HookEvent(Struct, frozen=True, kw_only=True):
    """One firing of a hook. `name` is the client's own word for it, which its reply may have to repeat.

    `tool` is the call of `before`; `outcomes` are the calls of `after` (one) and `batch` (every one of the turn).
    `path` is the file of a `settings` event; `transcript` where the client writes the conversation down; `compacted`
    says that a session begins anew because its conversation was shortened; `final` is false where a turn ends and
    the agent continues. `resets_in` is when the API may be asked again, in seconds.
    """

    client: str
    name: str
    moment: Moment
    session: str = ""
    agent: str | None = None
    tool: Tool | None = None
    outcomes: tuple[ToolOutcome, ...] = ()
    content: str = ""
    model: str | None = None
    usage: Usage | None = None
    transcript: str = ""
    cwd: str = ""
    path: str = ""
    compacted: bool = False
    final: bool = True
    resets_in: float | None = None


class TranscriptEntry(Struct, frozen=True, kw_only=True):
    """What one line of a transcript says: words and spend of the model, and the calls that it knows the results of.

    Lines with the same `key` belong to one answer of the model; what they say of its spend is the whole so far.
    """

    key: str = ""
    text: str = ""
    model: str | None = None
    usage: Usage | None = None
    agent: str | None = None
    results: tuple[str, ...] = ()
