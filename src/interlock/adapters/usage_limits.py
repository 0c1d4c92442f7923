"""Recognises usage limits in a model's answer, and in the output of a client that was stopped by one."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import Struct

from ..core import late_pattern

PATTERNS = Path(__file__).with_suffix(".yaml")

STATUSES = frozenset((429, 503, 529))
"""HTTP statuses that may indicate a limit: too many requests, unavailable, overloaded."""

LONGEST_S = 40 * 86_400.0
"""A reset further in the future than this is a misreading."""

WINDOW = 4000
"""How many characters of an answer or of the last output are searched."""


class UsageLimit(Struct, frozen=True, kw_only=True):
    """A usage limit: its message, where it was seen, and in how many seconds it resets, if known.

    `passes` is False if waiting does not help.
    """

    reason: str
    source: str
    resets_in: float | None = None
    passes: bool = True


class Pattern(Struct, frozen=True):
    """A message with which a client reports a limit."""

    client: str
    pattern: re.Pattern[str]
    passes: bool
    says: tuple[dict[str, str], ...]


@functools.cache
def patterns() -> tuple[Pattern, ...]:
    """All patterns, in the order of the file."""
    import yaml

    return tuple(
        Pattern(one["client"], re.compile(one["pattern"], re.I), one.get("passes", True), tuple(one["says"]))
        for one in yaml.load(PATTERNS.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    )


def find_in_words(words: str, now: datetime, source: str) -> UsageLimit | None:
    """The newest limit in a client's output; None if there is none."""
    for line in reversed(words[-WINDOW:].splitlines()):
        for each in patterns():
            if (found := each.pattern.search(line)) is not None:
                said = line[found.start() : found.end() + 200].split('","')[0].strip()
                return UsageLimit(reason=said, source=source, resets_in=find_reset(line, now), passes=each.passes)
    return None


def find_in_answer(
    status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes, now: datetime
) -> UsageLimit | None:
    """The limit in an answer of the model's API; None if there is none."""
    text = body[:WINDOW].decode(errors="replace")
    limit = find_in_words(" ".join(text.split()), now, "model API")
    if status not in STATUSES and (status < 400 or limit is None):
        return None
    named = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in headers}
    resets_in = _reset_in_headers(named, now)
    if resets_in is None and limit is not None:
        resets_in = limit.resets_in
    passes = limit.passes if limit is not None else True
    message = re.search(r'"message"\s*:\s*"((?:[^"\\]|\\.)*)"', text)
    words = message[1] if message is not None else " ".join(text.split())
    return UsageLimit(reason=f"HTTP {status}: {words[:300]}", source="model API", resets_in=resets_in, passes=passes)


def _reset_in_headers(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds until the API may be called again, from an answer's headers; the latest of the exhausted limits."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    if (after := headers.get("retry-after")) is not None:
        if (seconds := _number(after)) is not None:
            return seconds
        from email.utils import parsedate_to_datetime

        try:
            return _within((parsedate_to_datetime(after) - now).total_seconds())
        except ValueError:
            return None
    found = []
    for name, value in headers.items():
        used_up = headers.get(name.replace("-reset", "-remaining"), "0").strip() in ("0", "0.0", "")
        if not used_up or "ratelimit" not in name or "-reset" not in name:
            continue
        found.append(_instant(value, now))
    known = [seconds for seconds in found if seconds is not None]
    return max(known) if known else None


def _instant(value: str, now: datetime) -> float | None:
    """A time, an epoch, or a span such as 6m0s, as seconds from now."""
    if (number := _number(value)) is not None:
        return _within(number - now.timestamp() if number > 1e9 else number)
    if (span := _span(value)) is not None:
        return span
    try:
        return _within((datetime.fromisoformat(value) - now).total_seconds())
    except (ValueError, TypeError):
        return None


SPAN = late_pattern(
    r"(?:(\d+)\s*d(?:ays?)?)?\s*(?:(\d+)\s*h(?:(?:ou)?rs?)?)?\s*(?:(\d+)\s*m(?:in(?:ute)?s?)?(?!s))?\s*"
    r"(?:(\d+(?:\.\d+)?)\s*s(?:ec(?:ond)?s?)?)?",
    re.I,
)
AFTER = late_pattern(
    r"(?:retryDelay|resets?|try again|retry|again|available)\W{0,4}(?:in|after|at|on)?\W{0,4}(?=[\dA-Z])(?=(.{1,60}))",
    re.I,
)
CLOCK = late_pattern(r"^(\d{1,2})(?::(\d\d))?\s*([ap])\.?m\.?|^(\d{1,2}):(\d\d)", re.I)
DAY = late_pattern(r"^([A-Z][a-z]{2})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?,?\s*(?:at )?", re.I)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
EPOCH = late_pattern(r"\|(\d{10})\b")


def find_reset(line: str, now: datetime) -> float | None:
    """Seconds until the limit resets, from a line of text; None if it does not say."""
    if (epoch := EPOCH.search(line)) is not None:
        return _within(int(epoch[1]) - now.timestamp())
    for found in AFTER.finditer(line):
        said = found[1].strip()
        if (span := _span(said)) is not None:
            return span
        if (then := _time_of_day(said, now)) is not None:
            return _within((then - now).total_seconds())
    return None


def _time_of_day(said: str, now: datetime) -> datetime | None:
    here = now.astimezone(UTC) if re.search(r"\b(UTC|GMT)\b", said) else now
    day = DAY.match(said)
    date = None
    if day is not None and day[1].lower() in MONTHS:
        month = MONTHS.index(day[1].lower()) + 1
        year = int(day[3]) if day[3] else here.year + (month < here.month)
        try:
            date = here.replace(year=year, month=month, day=int(day[2]), hour=0, minute=0, second=0, microsecond=0)
        except ValueError:
            return None
        said = said[day.end() :]
    clock = CLOCK.match(said)
    if clock is None:
        return date
    hour, minute = int(clock[1] or clock[4]), int(clock[2] or clock[5] or 0)
    if clock[3]:
        hour = hour % 12 + (12 if clock[3].lower() == "p" else 0)
    if hour > 23 or minute > 59:
        return None
    then = (date or here).replace(hour=hour, minute=minute, second=0, microsecond=0)
    # The message may be slightly old, so allow the previous minute.
    return then if date is not None or then >= here - timedelta(minutes=1) else then + timedelta(days=1)


def _span(said: str) -> float | None:
    found = SPAN.match(said.strip())
    if found is None or not any(found.groups()):
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return _within(days * 86_400 + hours * 3600 + minutes * 60 + seconds)


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else None
    except ValueError:
        return None
    return number if number is not None and 0 <= number < 1e12 else None


def _within(seconds: float) -> float | None:
    return max(0.0, seconds) if seconds <= LONGEST_S else None
