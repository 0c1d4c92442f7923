"""What every format is made of."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..script import ScriptedCall, Tokens

Events = Iterator[tuple[str, Any]]
"""Name and data of server-sent events; an unnamed event has an empty name."""

PIECE = 24
"""Characters in one piece of a streamed text: small, so that readers have to put pieces together."""


@dataclass(frozen=True)
class ModelReply:
    """A turn, ready to be written in any format."""

    text: str
    calls: tuple[ScriptedCall, ...]
    tokens: Tokens
    input_tokens: int
    model: str


@dataclass(frozen=True)
class ReplyFormat:
    """One format: where its conversation is, who speaks as the model, its tools, and its answers."""

    items: str
    is_model: Callable[[dict[str, Any]], bool]
    tools: Callable[[dict[str, Any]], list[tuple[str, dict[str, Any]]]]
    whole: Callable[[ModelReply], dict[str, Any]]
    events: Callable[[dict[str, Any]], Events]


def new_id(prefix: str) -> str:
    return prefix + uuid.uuid4().hex[:24]


def pieces(text: str) -> list[str]:
    """A text as it is streamed."""
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


def properties_of(schema: Any) -> dict[str, Any]:
    """The arguments that a tool's JSON schema declares."""
    found = schema.get("properties") if isinstance(schema, dict) else None
    return found if isinstance(found, dict) else {}
