"""Dialect: how one client's hooks speak. A client is added by writing one. Tail: what is new in its transcript."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import msgspec

from ...core import Capability, Decision, Usage, from_json
from .hook_event import HookEvent, TranscriptEntry

Line = TypeVar("Line")

Payload = dict[str, object]
"""The JSON object that a hook is given, or answers with."""


class Dialect(Protocol):
    """One client: from its payloads to events, from decisions to its replies, from its transcript to what was said."""

    name: str
    capabilities: frozenset[Capability]

    def read(self, payload: Payload) -> HookEvent:
        """What the hook says; whatever is missing or of the wrong kind is left out."""

    def reply(self, event: HookEvent, decision: Decision) -> Payload:
        """What the hook answers; nothing where the client's own rules are to decide."""

    def carries(self, event: HookEvent) -> bool:
        """Whether the reply to this can have words for the model."""

    def hear(self, line: bytes) -> TranscriptEntry | None:
        """What a line of the transcript says, if anything that counts."""


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


MOST = 8 * 1024 * 1024
"""Bytes read at a time; the rest comes with the next look."""

REMEMBERED = 64
"""Answers of the model whose spend is known: a transcript repeats it with each part of an answer."""


class Tail:
    """One transcript. What is charged is what grew since the last time."""

    def __init__(self, path: str, hear: Callable[[bytes], TranscriptEntry | None], offset: int = 0) -> None:
        self.path = path
        self.offset = offset
        self._hear = hear
        self._charged: OrderedDict[str, Usage] = OrderedDict()

    def read(self) -> list[TranscriptEntry]:
        """What whole lines say that were added; nothing where the file is not there."""
        try:
            with Path(self.path).open("rb") as file:
                file.seek(self.offset)
                data = file.read(MOST)
        except OSError:
            return []
        end = data.rfind(b"\n") + 1
        self.offset += end
        heard = (self._hear(line) for line in data[:end].splitlines() if line)
        return [self._charge(said) for said in heard if said is not None]

    def _charge(self, said: TranscriptEntry) -> TranscriptEntry:
        if said.usage is None or not said.key:
            return said
        before = self._charged.get(said.key)
        self._charged[said.key] = said.usage
        while len(self._charged) > REMEMBERED:
            self._charged.popitem(last=False)
        if before is None:
            return said
        return TranscriptEntry(
            key=said.key, text=said.text, model=said.model, usage=_growth(before, said.usage), agent=said.agent,
            results=said.results,
        )  # fmt: skip


def size_of(path: str) -> int:
    """How long a file is so far; 0 if there is none."""
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def _growth(before: Usage, now: Usage) -> Usage | None:
    more = Usage(
        input_tokens=max(0, now.input_tokens - before.input_tokens),
        output_tokens=max(0, now.output_tokens - before.output_tokens),
        cache_read_tokens=max(0, now.cache_read_tokens - before.cache_read_tokens),
        cache_write_tokens=max(0, now.cache_write_tokens - before.cache_write_tokens),
    )
    return more if more != Usage() else None
