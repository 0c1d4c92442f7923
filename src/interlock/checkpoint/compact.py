"""Retention: which checkpoints to remove when there are too many. Compacting: reclaim the space of dead contents."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import TypeVar

from ..core import punch_hole
from .folder_descent import opened
from .packs import PackWriter
from .store import CheckpointStore, NoSpace

T = TypeVar("T")


def in_parts(store: CheckpointStore, items: Sequence[T], act: Callable[[Sequence[T]], None]) -> None:
    """Process all items at once; if the disk has no room for that, one half after the other, and so on."""
    try:
        act(items)
    except NoSpace:
        store.fold_log()
        if len(items) < 2:
            raise
        middle = len(items) // 2
        in_parts(store, items[:middle], act)
        in_parts(store, items[middle:], act)


def free_dead_stretches(store: CheckpointStore) -> None:
    """Free the parts of packs that no frame uses; needs no space, and changes no frame."""
    for pack, length in store.rows("SELECT id, length FROM pack"):
        at = 0
        frames = store.rows("SELECT start, length FROM frame WHERE pack=? ORDER BY start", pack)
        for start, size in [*frames, (length, 0)]:
            free_stretch(store, pack, at, start - at)
            at = start + size


def move_frames(store: CheckpointStore, pack: int, *, new_pack: bool) -> None:
    """Move the live contents out of a pack, frame by frame, each freed before the next: needs the space of one frame.

    `new_pack`: into a new pack, because the newest one is about to be removed too.
    """
    for frame in store.frames("pack=? ORDER BY start", pack):
        writer = PackWriter(store, new_pack=new_pack, fill_disk=True)
        try:
            writer.copy(frame)
            writer.finish()
            writer.sync()
            with store.transaction(durable=True):
                store.db.execute("DELETE FROM frame WHERE id=?", (frame.id,))
                writer.record()
        finally:
            writer.close()
        new_pack = False
        free_stretch(store, pack, frame.start, frame.length)
        store.fold_log()
    with store.transaction(durable=True):
        store.db.execute("DELETE FROM pack WHERE id=?", (pack,))
    store.pack_path(pack).unlink(missing_ok=True)


def free_stretch(store: CheckpointStore, pack: int, start: int, length: int) -> None:
    """Return part of a pack to the disk, if the file system can do that."""
    if length > 0:
        with suppress(FileNotFoundError), opened(store.pack_path(pack), os.O_RDWR | os.O_CLOEXEC) as fd:
            punch_hole(fd, start, length)


RECENT = 2
"""This fraction (one in two) of those that are kept are the newest, without a gap."""

LEAST_REACHING = 4
"""If fewer are kept, only the newest are."""


def thin(numbers: Sequence[int], keep: int, pinned: Collection[int]) -> set[int]:
    """Which of the checkpoints (ascending) to remove, so that `keep` stay if the pinned ones allow it.

    The newest part stays complete. Among the rest, whichever leaves the smallest gap for its age goes first, so that
    the distance between those that stay grows with their age, and the oldest stays.
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

    # The oldest of all stays.
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
