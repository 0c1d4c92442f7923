"""Similarity: difflib's ratio, exact where that is affordable and close to it where difflib takes minutes."""

from __future__ import annotations

import difflib
from typing import Any, Literal

from msgspec import Struct

from .anchors import Match, find_anchors

Method = Literal["identical", "difflib", "blocks"]

EXACT_CHARS = 8192
"""Up to this size both sides are compared character by character, exactly as difflib does."""

LEAF_WORK = 2_000_000
"""Pairs of characters that are compared directly; larger gaps are divided at their longest common text first."""

FEW_ANCHORS = 0.3
"""Where anchors cover less than this, which common text is the longest decides much, so it is sought exactly."""

HOPELESS_WORK = 500_000**2
"""Beyond this that search takes too long, and what anchors there are must do."""

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
    """Characters in matching blocks: anchors first, then what is between them."""
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
    from .longest import LongestMatch

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
    """A SequenceMatcher without autojunk; cydifflib's gives the same numbers some twenty times faster."""
    return _SequenceMatcher(None, a, b, False)


def _fastest_matcher() -> Any:
    try:
        from cydifflib import SequenceMatcher
    except ImportError:
        return difflib.SequenceMatcher
    return SequenceMatcher


_SequenceMatcher = _fastest_matcher()
