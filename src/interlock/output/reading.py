"""Kept output for display: by time or step, or its last lines, without control characters."""

from __future__ import annotations

import re
import time
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from ..core import BadInput, NotFound, from_json, printable
from ..journal import JournalReading
from ..journal_records import StepRecord
from .chunks import GAP
from .kept_files import OutputReader

LINES = 400
BYTES = 64_000


class LastLines(Struct, frozen=True):
    """Text without control characters; `cut`: there is more before it."""

    text: str = ""
    cut: bool = False


def read_last_lines(folder: Path) -> LastLines:
    """The last lines of a run's kept output, the unfinished one and a live screen included."""
    reader = OutputReader(folder)
    pieces, cut = reader.newest(BYTES)
    latest = reader.latest()
    printed = "".join("[... output left out ...]\n" if piece.stream == GAP else piece.text for piece in pieces)
    whole = readable(printed + ("\n".join(latest.screen) or latest.line))
    lines = whole[-BYTES:].splitlines()
    if len(whole) > BYTES:
        # The first line may be incomplete.
        lines = lines[1:] or lines
    return LastLines("\n".join(lines[-LINES:]), cut or len(whole) > BYTES or len(lines) > LINES)


_AGO = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d)")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def parse_since(words: str, now: float | None = None) -> float:
    """A time in seconds since 1970: `10m` ago, `14:30` (the last one), or a date and time."""
    now = time.time() if now is None else now
    if ago := _AGO.fullmatch(words.strip()):
        return now - float(ago[1]) * _SECONDS[ago[2]]
    try:
        if re.fullmatch(r"\d{1,2}:\d{2}(?::\d{2})?", words.strip()):
            clock = datetime.strptime(words.strip(), "%H:%M:%S" if words.count(":") == 2 else "%H:%M").time()
            at = datetime.combine(datetime.fromtimestamp(now).date(), clock).timestamp()
            return at if at <= now else at - _SECONDS["d"]
        return datetime.fromisoformat(words.strip()).timestamp()
    except (ValueError, OverflowError):
        raise BadInput(
            f"{words!r} is not a time", where="--since", todo="Give 10m, 2h, 14:30 or 2026-11-17T14:30."
        ) from None


def step_window(journal: JournalReading, number: int) -> tuple[float, float]:
    """The time range in which a step was the newest one."""
    begins: float | None = None
    for record in journal.read(kinds=frozenset(("step",))):
        index = from_json(record.body, StepRecord).step.index
        if begins is not None and index != number:
            return begins, record.time
        if index == number and begins is None:
            begins = record.time
    if begins is None:
        raise NotFound(f"there is no step {number}", todo="See the steps with interlock show.")
    return begins, float("inf")


_SEQUENCE = re.compile(r"\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]|\r(?=\n)")


def readable(text: str) -> str:
    """The text without escape sequences; every other control character is replaced."""
    return text if text.isprintable() else printable(_SEQUENCE.sub("", text))
