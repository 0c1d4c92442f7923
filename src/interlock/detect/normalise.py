"""Normalise: take out of a text what differs from one run of the same thing to the next."""

from __future__ import annotations

import re2

HEAD, TAIL = 2000, 600
"""Characters read of a text: what a call achieved shows at its ends, and a step may carry a megabyte."""

_VOLATILE = re2.compile(
    rb"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?"  # 2024-01-31T10:00:00.123Z
    rb"|\d{1,2}/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d"  # 31/Jan/2024:10:00:00, as web servers log it
    rb"|\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s?[AaPp][Mm]\b)?"  # 10:00:00
    rb"|0x[0-9a-fA-F]{4,}"  # addresses
    rb"|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"  # UUIDs
    rb"|\b(?:[0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{5,62}\b"  # hashes; a plain number is no hash
    rb"|\b\d+(?:\.\d+)?\s?(?:ms|us|ns|s|secs?|seconds?|mins?|minutes?|hours?)\b"  # durations
    rb"|\b(?:\d+[dhm])+(?:\d+s)?\b"  # ages: 3d4h, 5m12s
    rb"|\b1\d{9}(?:\d{3})?(?:\.\d+)?\b"  # seconds or milliseconds since the epoch
    rb"|(?:/private)?/(?:tmp|var/folders)/[\w./+-]+|\btmp[a-z0-9_]{6,}\b"  # temporary paths
    rb"|\b(?:pid|PID)[ =:#]*\d+"
    rb"|\bline \d+|\.py:\d+"  # where in a file: an edit above moves it
    rb"|\x1b\[[0-9;]*m"  # colours
)

_RESIDUE = b"; Next action: {"
"""Some recorders write the next call behind a result; it is not part of what the call achieved."""


def normalise(raw: bytes) -> bytes:
    """A text without times, ids, addresses, temporary paths, durations and line numbers."""
    cut = raw.find(_RESIDUE)
    if cut >= 0:
        raw = raw[:cut]
    # What is left between the matches, joined: a substitution would expand its template anew for each of them.
    kept, at = [], 0
    for found in _VOLATILE.finditer(raw):
        start, end = found.span()
        kept.append(raw[at:start])
        at = end
    if not kept:
        return raw
    kept.append(raw[at:])
    return b"~".join(kept)


def bounded(text: str, head: int = HEAD, tail: int = TAIL) -> bytes:
    """Head and tail of a text that is too long to be read whole, as bytes."""
    if len(text) > head + tail:
        text = f"{text[:head]}\n{text[-tail:]}" if tail else text[:head]
    return text.encode("utf-8", "replace")


def cut(text: bytes, most: int) -> bytes:
    """A text that people read: whole, or its beginning up to a blank, with a mark that says so."""
    if len(text) <= most:
        return text
    head = text[:most]
    end = head.rfind(b" ")
    return (head[:end] if end > most // 2 else head).rstrip(b" ,;:") + b" \xe2\x80\xa6"
