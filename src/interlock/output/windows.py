"""Which part of the output is wanted: since when, or during which step."""

from __future__ import annotations

import re
import time
from datetime import datetime

from ..core import BadInput, NotFound, from_json
from ..journal import JournalReading
from ..journal_records import StepRecord

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
    """From when until when a step was the newest one."""
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
