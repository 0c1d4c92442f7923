"""Dialect: how one client's hooks speak. A client is added by writing one."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

import msgspec

from ...core import Capability, Decision, from_json
from .event import HookEvent, TranscriptEntry

Line = TypeVar("Line")

Payload = dict[str, object]
"""The JSON object that a hook is given, or answers with."""


class Dialect(Protocol):
    """One client: from its payloads to events, from decisions to its replies, from its transcript to what was said."""

    name: str
    capabilities: frozenset[Capability]

    def read(self, payload: Payload) -> HookEvent:
        """What the hook says; whatever is missing or of the wrong kind is left out."""
        ...

    def reply(self, event: HookEvent, decision: Decision) -> Payload:
        """What the hook answers; nothing where the client's own rules are to decide."""
        ...

    def carries(self, event: HookEvent) -> bool:
        """Whether the reply to this can have words for the model."""
        ...

    def hear(self, line: bytes) -> TranscriptEntry | None:
        """What a line of the transcript says, if anything that counts."""
        ...


class TranscriptDialect(Generic[Line]):
    """What dialects share whose transcript has one record in each line."""

    context: tuple[str, ...]
    """The events whose reply can carry words for the model."""
    line: type[Line]

    def carries(self, event: HookEvent) -> bool:
        return event.name in self.context

    def hear(self, line: bytes) -> TranscriptEntry | None:
        try:
            record = from_json(line, self.line)
        except msgspec.DecodeError:
            return None
        return self.understand(record)

    def understand(self, record: Line) -> TranscriptEntry | None:
        """What one record says."""
        raise NotImplementedError


def text(payload: Payload, key: str) -> str:
    """A string of the payload; empty if there is none."""
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def mapping(payload: Payload, key: str) -> dict[str, object]:
    """An object of the payload; empty if there is none."""
    value = payload.get(key)
    return value if isinstance(value, dict) else {}


def number(payload: Payload, key: str) -> float | None:
    """A number of the payload."""
    value = payload.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def words_of(decision: Decision) -> str:
    """The messages of a decision as one text for the agent."""
    return "\n\n".join(message.content for message in decision.messages)


def refusal_of(decision: Decision) -> str:
    """Why a call is refused, and any further message for the agent."""
    reason = decision.reason or "Interlock blocked this call."
    return "\n\n".join(filter(None, (reason, words_of(decision))))
