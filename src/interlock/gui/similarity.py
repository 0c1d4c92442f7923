"""Similarity: difflib's ratio, exact for small texts and close to it where difflib would take minutes."""

from __future__ import annotations

import difflib
import heapq
import importlib
import re
from bisect import bisect
from collections import Counter
from typing import Any, Literal

from msgspec import Struct

Method = Literal["identical", "difflib", "blocks"]

EXACT_CHARS = 8192
"""Up to this size both sides are compared character by character, exactly as difflib does."""

LEAF_WORK = 2_000_000
"""Pairs of characters that are compared directly; larger gaps are first divided at their longest common text."""

FEW_ANCHORS = 0.3
"""If anchors cover less than this, the longest common text matters much and is searched exactly."""

HOPELESS_WORK = 500_000**2
"""Beyond this, that search takes too long, and the anchors must suffice."""

Span = tuple[int, int, int, int]


class Similarity(Struct, frozen=True):
    """A ratio from 0 to 1 and how it was found."""

    ratio: float
    method: Method


def similarity(expected: str, actual: str) -> Similarity:
    """How alike two texts are: `SequenceMatcher(None, expected, actual, autojunk=False).ratio()`.

    Exactly that up to 8 KB. Beyond, equal runs of lines are found first and characters are compared inside the
    changed blocks only; the result is within 0.02.
    """
    if expected == actual:
        return Similarity(1.0, "identical")
    if max(len(expected), len(actual)) <= EXACT_CHARS:
        return Similarity(_matcher(expected, actual).ratio(), "difflib")
    return Similarity(2.0 * _matched(expected, actual) / (len(expected) + len(actual)), "blocks")


def _matched(a: str, b: str) -> int:
    """Characters in matching blocks: anchors first, then the gaps between them."""
    total = 0
    waiting: list[Span] = [(0, len(a), 0, len(b))]
    while waiting:
        alo, ahi, blo, bhi = waiting.pop()
        if alo >= ahi or blo >= bhi:
            continue
        if (ahi - alo) * (bhi - blo) <= LEAF_WORK:
            total += _matched_characters(a[alo:ahi], b[blo:bhi])
            continue
        anchors = find_anchors(a[alo:ahi], b[blo:bhi])
        if not _trustworthy(anchors, ahi - alo, bhi - blo):
            total += _matched_by_halves(a[alo:ahi], b[blo:bhi])
            continue
        end_a, end_b = alo, blo
        for i, j, size in anchors:
            total += size
            waiting.append((end_a, alo + i, end_b, blo + j))
            end_a, end_b = alo + i + size, blo + j + size
        waiting.append((end_a, ahi, end_b, bhi))
    return total


def _trustworthy(anchors: list[Match], length_a: int, length_b: int) -> bool:
    covered = sum(size for _, _, size in anchors)
    few = covered < FEW_ANCHORS * min(length_a, length_b)
    return covered > 0 and (not few or length_a * length_b > HOPELESS_WORK)


def _matched_by_halves(a: str, b: str) -> int:
    """Divide at the longest common text, as difflib does, until the parts are small enough to compare directly."""
    from .longest_match import LongestMatch

    longest = LongestMatch(a, b)
    total = 0
    waiting: list[tuple[Span, int]] = [((0, len(a), 0, len(b)), min(len(a), len(b)))]
    while waiting:
        (alo, ahi, blo, bhi), bound = waiting.pop()
        if alo >= ahi or blo >= bhi:
            continue
        if (ahi - alo) * (bhi - blo) <= LEAF_WORK:
            total += _matched_characters(a[alo:ahi], b[blo:bhi])
            continue
        i, j, size = longest.find(alo, ahi, blo, bhi, bound)
        if size:
            total += size
            waiting += [((alo, i, blo, j), size), ((i + size, ahi, j + size, bhi), size)]
    return total


def _matched_characters(a: str, b: str) -> int:
    return sum(size for _, _, size in _matcher(a, b).get_matching_blocks())


def _matcher(a: str, b: str) -> Any:
    """A SequenceMatcher without autojunk."""
    return differ.SequenceMatcher(None, a, b, False)


try:
    differ: Any = importlib.import_module("cydifflib")
    """difflib, or cydifflib where it is installed: the same results, some twenty times faster."""
except ImportError:
    differ = difflib


ANCHOR_CHARS = 32
"""Shorter common texts are found by comparing characters."""

LONG_LINE = 240
"""If lines are longer than this on average (one-line JSON), pieces of lines are used instead."""

PIECE = re.compile(r"[^\s,;{}\[\]()Qk7+]{0,64}[\s,;{}\[\]()Qk7+]?", re.DOTALL)
"""Ends at punctuation, or at a few rare letters, so that text without punctuation is cut as well."""

Match = tuple[int, int, int]


def find_anchors(a: str, b: str) -> list[Match]:
    """Common texts (start in a, start in b, size) that do not cross, in order.

    Like difflib, it takes the longest first and drops everything that crosses it.
    """
    waiting = [(-size, i, j) for i, j, size in _candidates(a, b) if size >= ANCHOR_CHARS]
    heapq.heapify(waiting)
    chosen: list[Match] = []
    while waiting:
        negative, i, j = heapq.heappop(waiting)
        position = bisect(chosen, (i, j, 0))
        clipped = _clip((i, j, -negative), chosen[position - 1] if position else None, chosen[position : position + 1])
        if clipped is None or clipped[2] < ANCHOR_CHARS:
            continue
        if clipped[2] < -negative:
            heapq.heappush(waiting, (-clipped[2], clipped[0], clipped[1]))
        else:
            chosen.insert(position, clipped)
    return chosen


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
    """Every piece that is unique on both sides, extended as far as the texts agree, without duplicates."""
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
    """Pieces that occur once, with their position, in order."""
    lines = text.splitlines(keepends=True)
    pieces = lines if len(text) <= LONG_LINE * max(len(lines), 1) else PIECE.findall(text)
    counts = Counter(pieces)
    positions: dict[str, int] = {}
    position = 0
    for piece in pieces:
        if counts[piece] == 1 and not piece.isspace():
            positions[piece] = position
        position += len(piece)
    return positions


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
