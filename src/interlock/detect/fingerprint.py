"""Fingerprints: short numbers for long texts, the same in every process, without parts that vary between runs."""

from __future__ import annotations

import zlib
from collections.abc import Set as AbstractSet
from functools import lru_cache

import msgspec
import re2

from ..core import span_search

WORDS = 160
"""Distinct words kept of a text."""

_LETTERS = bytes(byte if chr(byte).isalnum() or byte == 95 or byte >= 128 else 32 for byte in bytes(range(256)).lower())
_encode = msgspec.json.Encoder(order="deterministic").encode


def fingerprint(text: bytes) -> int:
    """A number for a text: its CRC and its length, so that a collision needs both."""
    return zlib.crc32(text) | (len(text) & 0x3FFFFFFF) << 32


def canonical(arguments: dict[str, object]) -> bytes:
    """Arguments as one text that does not depend on the order of keys."""
    try:
        return _encode(arguments)
    except (UnicodeEncodeError, TypeError, OverflowError):
        # Values that JSON cannot encode (a lone surrogate, for example) use their Python representation.
        return repr(sorted(arguments.items(), key=str)).encode("utf-8", "replace")


def words(text: bytes) -> set[bytes]:
    """The distinct words of a text, in lower case."""
    return set(text.translate(_LETTERS).split())


def has_any(text: bytes, words: tuple[bytes, ...]) -> bool:
    """Whether a text contains one of some words; `in` is slower, because it tries each word as an integer first."""
    find = text.find
    for word in words:  # noqa: SIM110 (any() is slower)
        if find(word) >= 0:
            return True
    return False


@lru_cache(maxsize=256)
def name_words(name: str) -> frozenset[bytes]:
    """The words of a tool's name; cached, since a run uses few tools."""
    return frozenset(words(name.encode("utf-8", "replace")))


def alike(one: AbstractSet[bytes], other: AbstractSet[bytes]) -> float:
    """Shared words as a fraction of all words of two texts, 0..1; two texts without words are alike."""
    if not one or not other:
        return 1.0 if not one and not other else 0.0
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


HEAD, TAIL = 2000, 600
"""Characters read of a text: the outcome of a call shows at its ends, and a step may contain a megabyte."""

_volatile = span_search(re2.compile(
    rb"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?"  # 2024-01-31T10:00:00.123Z
    rb"|\d{1,2}/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d"  # 31/Jan/2024:10:00:00, as web servers log it
    rb"|\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s?[AaPp][Mm]\b)?"  # 10:00:00
    rb"|0x[0-9a-fA-F]{4,}"  # addresses
    rb"|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"  # UUIDs
    rb"|\b(?:[0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{5,62}\b"  # hashes; a plain number is not a hash
    rb"|\b\d+(?:\.\d+)?\s?(?:ms|us|ns|s|secs?|seconds?|mins?|minutes?|hours?)\b"  # durations
    rb"|\b(?:\d+[dhm])+(?:\d+s)?\b"  # ages: 3d4h, 5m12s
    rb"|\b1\d{9}(?:\d{3})?(?:\.\d+)?\b"  # seconds or milliseconds since the epoch
    rb"|(?:/private)?/(?:tmp|var/folders)/[\w./+-]+|\btmp[a-z0-9_]{6,}\b"  # temporary paths
    rb"|\b(?:pid|PID|pgid|PGID)[ =:#]*\d+"
    rb"|\bline \d+|\.py:\d+"  # where in a file: an edit above moves it
    rb"|\x1b\[[0-9;]*m"  # colours
))  # fmt: skip

_RESIDUE = b"; Next action: {"
"""Some recorders write the next call after a result; it is not part of the outcome."""


def normalise(raw: bytes) -> bytes:
    """A text without times, ids, addresses, temporary paths, durations and line numbers."""
    cut = raw.find(_RESIDUE)
    if cut >= 0:
        raw = raw[:cut]
    # Join the text between the matches: a substitution would expand its template for each match.
    kept, at = [], 0
    start, end = _volatile(raw, 0)
    while start >= 0:
        kept.append(raw[at:start])
        at = end
        start, end = _volatile(raw, at)
    if not kept:
        return raw
    kept.append(raw[at:])
    return b"~".join(kept)


def bounded(text: str, head: int = HEAD, tail: int = TAIL) -> bytes:
    """The head and tail, as bytes, of a text that is too long to be read whole."""
    if len(text) > head + tail:
        text = f"{text[:head]}\n{text[-tail:]}" if tail else text[:head]
    return text.encode("utf-8", "replace")


def cut(text: bytes, most: int) -> bytes:
    """A text for people: whole, or cut at a space and marked with an ellipsis."""
    if len(text) <= most:
        return text
    head = text[:most]
    end = head.rfind(b" ")
    return (head[:end] if end > most // 2 else head).rstrip(b" ,;:") + b" \xe2\x80\xa6"
