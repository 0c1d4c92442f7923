"""Dialect: the hook format of one client; write one to add a client. Tail: reads new lines of its transcript."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from ...core import Capability, Decision, Usage, from_json, open_regular
from .hook_event import HookEvent, TranscriptEntry

Line = TypeVar("Line")

Payload = dict[str, object]
"""The JSON object that a hook gets, or answers with."""


class Dialect(Protocol):
    """One client: converts its payloads to events, decisions to its replies, and its transcript to entries."""

    name: str
    capabilities: frozenset[Capability]

    def read(self, payload: Payload) -> HookEvent:
        """The event in a payload; missing or invalid fields are left out."""

    def reply(self, event: HookEvent, decision: Decision) -> Payload:
        """The hook's reply; empty if the client's own rules should decide."""

    def carries(self, event: HookEvent) -> bool:
        """Whether the reply to this event can contain text for the model."""

    def hear(self, line: bytes) -> TranscriptEntry | None:
        """The entry in a line of the transcript, if any."""


class TranscriptDialect(Generic[Line]):
    """Base for dialects whose transcript has one record per line."""

    context: tuple[str, ...]
    """The events whose reply can contain text for the model."""
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
        """The entry in one record."""
        raise NotImplementedError


def text(payload: Payload, key: str) -> str:
    """A string in the payload; empty if missing."""
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def mapping(payload: Payload, key: str) -> dict[str, object]:
    """An object in the payload; empty if missing."""
    value = payload.get(key)
    return value if isinstance(value, dict) else {}


def number(payload: Payload, key: str) -> float | None:
    """A number in the payload; None if missing."""
    value = payload.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def words_of(decision: Decision) -> str:
    """The messages of a decision as one text for the agent."""
    return "\n\n".join(message.content for message in decision.messages)


def refusal_of(decision: Decision) -> str:
    """Why a call is blocked, and any further message for the agent."""
    reason = decision.reason or "Interlock blocked this call."
    return "\n\n".join(filter(None, (reason, words_of(decision))))


MOST = 8 * 1024 * 1024
"""Bytes read at a time; the rest follows with the next read."""

REMEMBERED = 64
"""Answers whose usage is remembered: a transcript repeats it with each part of an answer."""


class Tail:
    """One transcript, from `offset`, or from its end if that is None. Not thread-safe.

    Usage is counted as the increase since the last entry of an answer. A hook names the path, which may be anything.
    """

    def __init__(self, path: str, hear: Callable[[bytes], TranscriptEntry | None], offset: int | None = 0) -> None:
        self.path = path
        self.lock = threading.Lock()
        self.held_up = False
        self._offset = offset
        self._hear = hear
        self._charged: OrderedDict[str, Usage] = OrderedDict()

    def read(self) -> list[TranscriptEntry]:
        """The entries in new complete lines; none if there is no such regular file. Longer lines are skipped."""
        try:
            with open_regular(self.path) as file:
                if self._offset is None:
                    self._offset = os.fstat(file.fileno()).st_size
                file.seek(self._offset)
                data = file.read(MOST) or b""
        except (OSError, ValueError):
            self._offset = self._offset or 0
            return []
        end = data.rfind(b"\n") + 1 if len(data) < MOST or b"\n" in data else MOST
        self._offset += end
        heard = (self._hear(line) for line in data[:end].splitlines() if line)
        return [self._charge(said) for said in heard if said is not None]

    @property
    def offset(self) -> int:
        """How far it was read."""
        return self._offset or 0

    def _charge(self, said: TranscriptEntry) -> TranscriptEntry:
        if said.usage is None or not said.key:
            return said
        before = self._charged.get(said.key)
        self._charged[said.key] = said.usage
        while len(self._charged) > REMEMBERED:
            self._charged.popitem(last=False)
        if before is None:
            return said
        return replace(said, usage=_growth(before, said.usage))


def _growth(before: Usage, now: Usage) -> Usage | None:
    more = Usage(
        input_tokens=max(0, now.input_tokens - before.input_tokens),
        output_tokens=max(0, now.output_tokens - before.output_tokens),
        cache_read_tokens=max(0, now.cache_read_tokens - before.cache_read_tokens),
        cache_write_tokens=max(0, now.cache_write_tokens - before.cache_write_tokens),
    )
    return more if more != Usage() else None
