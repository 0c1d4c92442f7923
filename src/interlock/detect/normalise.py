"""Normalise: take out of a text what differs from one run of the same thing to the next."""

from __future__ import annotations

import re

HEAD, TAIL = 3000, 1000
"""How much of a text is read: what a call achieved shows at its ends."""

_VOLATILE = re.compile(
    r"\d{4}-\d\d-\d\d[T ]?(?:\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s?[AaPp][Mm])?"
    r"|0x[0-9a-fA-F]{4,}"
    r"|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F-]{13,}"
    r"|\b(?=[a-f]*\d)[0-9a-f]{7,64}\b"
    r"|\d+(?:\.\d+)?\s?(?:ms|us|µs|ns|s|sec|secs|seconds?|minutes?|min)\b"
    r"|/tmp/[\w./-]+"
    r"|\b\d{9,}\b"
)


def normalise(text: str) -> str:
    """The text without times, ids, addresses, temporary paths and durations; bounded."""
    return _VOLATILE.sub("~", bounded(text))


def bounded(text: str) -> str:
    """Head and tail of a text that is too long to be read whole."""
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n…\n{text[-TAIL:]}"
