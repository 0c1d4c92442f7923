"""Tail: follows a transcript as it grows, and says what is new in it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from ...core import Usage
from .event import TranscriptEntry

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
