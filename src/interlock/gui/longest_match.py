"""LongestMatch: the longest common text of two ranges, by hashing; comparing all pairs would take minutes."""

from __future__ import annotations

from typing import Any

import numpy as np

BASE = np.uint64(0x9E3779B97F4A7C15)
"""An odd multiplier; hashes are modulo 2**64."""


class LongestMatch:
    """Finds what `SequenceMatcher.find_longest_match` finds, or another match of the same length."""

    def __init__(self, a: str, b: str) -> None:
        self._a, self._b = _prefix_hashes(a), _prefix_hashes(b)
        self._power = _powers(max(len(a), len(b)) + 1)

    def find(self, alo: int, ahi: int, blo: int, bhi: int, bound: int) -> tuple[int, int, int]:
        """Start in a, start in b and length of the longest text common to a[alo:ahi] and b[blo:bhi].

        `bound` is a known upper bound of its length.
        """
        low, high = 0, min(ahi - alo, bhi - blo, bound) + 1
        best = (alo, blo, 0)
        while low + 1 < high:
            probe = min(max(2 * low, 8), high - 1) if high > 4 * max(low, 8) else (low + high) // 2
            found = self._common(alo, ahi, blo, bhi, probe)
            if found:
                low, best = probe, (*found, probe)
            else:
                high = probe
        return best

    def _common(self, alo: int, ahi: int, blo: int, bhi: int, size: int) -> tuple[int, int] | None:
        """The first position in a (and the first in b for it) of a common text of this size."""
        hashes_a = self._grams(self._a, alo, ahi, size)
        hashes_b = self._grams(self._b, blo, bhi, size)
        order = np.argsort(hashes_b, kind="stable")
        sorted_b = hashes_b[order]
        positions = np.searchsorted(sorted_b, hashes_a)
        positions[positions == len(sorted_b)] = 0
        hit = sorted_b[positions] == hashes_a
        if not hit.any():
            return None
        first = int(hit.argmax())
        return alo + first, blo + int(order[positions[first]])

    def _grams(self, prefix: Any, low: int, high: int, size: int) -> Any:
        return prefix[low + size : high + 1] - prefix[low : high + 1 - size] * self._power[size]


def _prefix_hashes(text: str) -> Any:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    mixed = (codes + np.uint64(1)) * np.uint64(0xD6E8FEB86659FD93)
    mixed ^= mixed >> np.uint64(32)
    prefix = np.zeros(len(codes) + 1, dtype=np.uint64)
    value = 0
    base, mask = int(BASE), (1 << 64) - 1
    for index, code in enumerate(mixed.tolist()):
        value = (value * base + code) & mask
        prefix[index + 1] = value
    return prefix


def _powers(count: int) -> Any:
    powers = np.full(count + 1, BASE, dtype=np.uint64)
    powers[0] = 1
    return np.cumprod(powers)
