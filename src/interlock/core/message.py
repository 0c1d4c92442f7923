"""Message: words put into an agent's conversation, with where they come from."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .limits import Limits


class MessageMeta(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Why a message was injected. Never shown to the model unless an adapter has no other place for it."""

    intervention: str
    issue: str
    time: float
    run_id: str
    step: int
    type: str = "intervention"
    limits: Limits | None = None
    checkpoint_id: str | None = None


class Message(Struct, frozen=True, omit_defaults=True):
    """One message; the role is neutral, each adapter turns it into what its provider accepts."""

    content: str
    role: Literal["system", "user"] = "user"
    meta: MessageMeta | None = None
