"""Retention: which checkpoints go when there are too many: all recent ones stay, older ones are thinned out."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence

RECENT = 2
"""One part in so many of those that are kept are the newest, without a gap."""

LEAST_REACHING = 4
"""Where fewer are kept, they are the newest."""


def thin(numbers: Sequence[int], keep: int, pinned: Collection[int]) -> set[int]:
    """Which of the checkpoints (ascending) to remove, so that `keep` stay if the pinned ones allow it.

    The newest part stays whole. Among the rest, whichever leaves the smallest gap for its age goes first, so that
    the distance between those that stay grows with their age, and they reach back as far as before.
    """
    excess = len(numbers) - keep
    if excess <= 0:
        return set()
    newest = numbers[-1]
    recent = max(1, keep // RECENT)
    last = len(numbers) - 1
    before, after = list(range(-1, last)), list(range(1, last + 2))

    def gap(at: int) -> float:
        lower = numbers[before[at]] if before[at] >= 0 else numbers[at]
        return (numbers[after[at]] - lower) / (newest - numbers[at])

    # The oldest of all is what the others reach back to.
    first = 1 if keep >= LEAST_REACHING else 0
    waiting = [(gap(at), at) for at in range(first, len(numbers) - recent) if numbers[at] not in pinned]
    heapq.heapify(waiting)
    gone: set[int] = set()
    while waiting and len(gone) < excess:
        was, at = heapq.heappop(waiting)
        now = gap(at)
        if now > was:
            heapq.heappush(waiting, (now, at))
            continue
        gone.add(numbers[at])
        if before[at] >= 0:
            after[before[at]] = after[at]
        before[after[at]] = before[at]
    return gone
