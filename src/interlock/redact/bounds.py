"""Bounds: how much of a text is kept, and what a single line may contain."""

from __future__ import annotations

import math
import unicodedata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core import Usage

CONTENT = 64 * 1024
"""The most characters of a step's content. Loops and errors show in far less, and long journals stay small."""

ONE_LINE = 512
"""The most characters of a name."""

TAIL_SHARE = 4
"""One quarter of what is kept is the end of the text, where errors are."""

MOST_TOKENS = 10**12
MOST_USD = 1e9
"""More than any step can use; sums of such numbers stay finite."""

_MARK = 48
"""Space for the mark in a cut text; a text with a limit below twice this is simply truncated."""


def cut(text: str, limit: int, missing: int = 0) -> str:
    """Beginning and end of a text that is too long, with a mark that counts what was cut (`missing` was cut before)."""
    if len(text) <= limit:
        return text
    if limit < 2 * _MARK:
        return text[:limit]
    tail = (limit - _MARK) // TAIL_SHARE
    head = limit - _MARK - tail
    return f"{text[:head]}{mark_cut(len(text) - head - tail + missing)}{text[len(text) - tail :]}"


def mark_cut(missing: int) -> str:
    """The mark that replaces missing text."""
    return f"\n[... {missing:,} characters cut ...]\n"


def one_line(text: str, limit: int = ONE_LINE) -> str:
    """The text on one line, without characters that control a terminal or change the text direction."""
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    if text.isprintable():
        return text
    return "".join(" " if char in "\n\r\t" else char for char in text if char in "\n\r\t" or _is_harmless(char))


def mend(text: str) -> str:
    """The text with lone surrogates replaced, so that it can be written as UTF-8."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def countable(usage: Usage) -> Usage:
    """The usage in numbers that can be added: negative and non-finite values count as 0."""
    from ..core import Usage

    cost = usage.cost_usd
    return Usage(
        input_tokens=_count(usage.input_tokens),
        output_tokens=_count(usage.output_tokens),
        cost_usd=min(max(0.0, cost), MOST_USD) if math.isfinite(cost) else 0.0,
        cache_read_tokens=_count(usage.cache_read_tokens),
        cache_write_tokens=_count(usage.cache_write_tokens),
    )


def is_countable(usage: Usage) -> bool:
    """Whether `countable` changes nothing."""
    return (
        0 <= usage.input_tokens <= MOST_TOKENS
        and 0 <= usage.output_tokens <= MOST_TOKENS
        and 0 <= usage.cost_usd <= MOST_USD
        and 0 <= usage.cache_read_tokens <= MOST_TOKENS
        and 0 <= usage.cache_write_tokens <= MOST_TOKENS
    )


def _count(tokens: int) -> int:
    return min(max(0, tokens), MOST_TOKENS)


def _is_harmless(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
