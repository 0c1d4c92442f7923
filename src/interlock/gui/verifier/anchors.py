"""Anchors: long texts common to both sides, found through lines that occur once on each, longest first."""

from __future__ import annotations

import heapq
import re
from bisect import bisect
from collections import Counter

ANCHOR_CHARS = 32
"""Shorter common texts are left to the comparison of characters."""

LONG_LINE = 240
"""Where lines are longer than this on average (one-line JSON), pieces of lines take their place."""

PIECE = re.compile(r"[^\s,;{}\[\]()Qk7+]{0,64}[\s,;{}\[\]()Qk7+]?", re.DOTALL)
"""Ends at punctuation, or at a few rare enough letters so that text without any punctuation is cut as well."""

Match = tuple[int, int, int]


def find_anchors(a: str, b: str) -> list[Match]:
    """Common texts (start in a, start in b, size) that do not cross, in order.

    As difflib does, the longest is taken first and everything that crosses it is given up.
    """
    waiting = [(-size, i, j) for i, j, size in _candidates(a, b) if size >= ANCHOR_CHARS]
    heapq.heapify(waiting)
    taken: list[Match] = []
    while waiting:
        negative, i, j = heapq.heappop(waiting)
        place = bisect(taken, (i, j, 0))
        clipped = _clip((i, j, -negative), taken[place - 1] if place else None, taken[place : place + 1])
        if clipped is None or clipped[2] < ANCHOR_CHARS:
            continue
        if clipped[2] < -negative:
            heapq.heappush(waiting, (-clipped[2], clipped[0], clipped[1]))
        else:
            taken.insert(place, clipped)
    return taken


def _clip(match: Match, before: Match | None, after: list[Match]) -> Match | None:
    """The part of a match that is between its neighbours on both sides; None if it crosses them."""
    i, j, size = match
    if before is not None:
        cut = max(before[0] + before[2] - i, before[1] + before[2] - j, 0)
        i, j, size = i + cut, j + cut, size - cut
    if after:
        size = min(size, after[0][0] - i, after[0][1] - j)
    return (i, j, size) if size > 0 else None


def _candidates(a: str, b: str) -> list[Match]:
    """Every piece that is unique on both sides, grown as far as the texts agree; each grown text once."""
    starts_a, starts_b = _unique(a), _unique(b)
    found: list[Match] = []
    ends: dict[int, int] = {}
    for piece, i in starts_a.items():
        j = starts_b.get(piece)
        if j is None or ends.get(i - j, -1) >= i + len(piece):
            continue
        match = _grow(a, b, i, j, len(piece))
        ends[i - j] = match[0] + match[2]
        found.append(match)
    return found


def _unique(text: str) -> dict[str, int]:
    """Pieces that occur once, with their place, in order."""
    lines = text.splitlines(keepends=True)
    pieces = lines if len(text) <= LONG_LINE * max(len(lines), 1) else PIECE.findall(text)
    counts = Counter(pieces)
    places: dict[str, int] = {}
    place = 0
    for piece in pieces:
        if counts[piece] == 1 and not piece.isspace():
            places[piece] = place
        place += len(piece)
    return places


def _grow(a: str, b: str, i: int, j: int, size: int) -> Match:
    """The longest common text around a[i:i+size] == b[j:j+size]."""
    end_a, end_b = i + size, j + size
    ahead = _common_prefix(a, b, end_a, end_b)
    behind = _common_suffix(a, b, i, j)
    return i - behind, j - behind, behind + size + ahead


def _common_prefix(a: str, b: str, i: int, j: int) -> int:
    """How many characters agree from here on."""
    size, step = 0, 64
    limit = min(len(a) - i, len(b) - j)
    while size < limit and a[i + size : i + size + step] == b[j + size : j + size + step]:
        size += min(step, limit - size)
        step *= 2
    while size < limit and a[i + size] == b[j + size]:
        size += 1
    return size


def _common_suffix(a: str, b: str, i: int, j: int) -> int:
    """How many characters agree up to here."""
    size = 0
    limit = min(i, j)
    while size < limit and a[i - size - 1] == b[j - size - 1]:
        size += 1
    return size
