"""Comparison: two moments of a workspace side by side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from ..core import CheckpointInfo, InvalidState
from .change import Change, Difference, differences
from .contents import Contents
from .entry import Entry
from .git_index import is_index, same_index
from .large import LARGE
from .patch import patch
from .plan import Moment
from .snapshot import Snapshots
from .store import Store


class Comparison:
    """Compares checkpoints with each other and with the disk now."""

    def __init__(self, store: Store, snapshots: Snapshots) -> None:
        self._store, self._snapshots, self._history = store, snapshots, snapshots.history

    def moment(self, wanted: str | None) -> Moment:
        """The workspace at a checkpoint; None: now."""
        if wanted is None:
            return self._snapshots.look()
        seq = self._history.find(wanted)
        return Moment(self._history.tree(seq), self._history.uncovered(seq))

    def changes(self, a: str, b: str | None) -> list[Change]:
        return [difference.to_change() for difference in self._between(a, b)]

    def patch(self, a: str, b: str | None) -> str:
        contents = Contents(self._store)

        def stored(path: str, entry: Entry) -> bytes:
            return contents.read(entry.data)

        found = self._between(a, b)
        if b is not None:
            return patch(found, stored, stored)
        with self._snapshots.reader() as on_disk:
            return patch(found, stored, on_disk)

    def differing(self, infos: list[CheckpointInfo]) -> Iterator[CheckpointInfo]:
        """The checkpoints that are not as the disk is now, in the order given."""
        now = self._snapshots.look()
        for info in infos:
            if any(True for _ in differences(now.tree, self.moment(info.id).tree)):
                yield info

    def is_same_index(self, path: str, known: str, now: Entry) -> bool:
        """Whether a repository's index says what it said: git writes it anew when it only looks at files."""
        if not is_index(path) or not known.startswith("file:") or now.kind != "file" or now.size >= LARGE:
            return False
        with suppress(OSError, InvalidState), self._snapshots.reader() as on_disk:
            return same_index(Contents(self._store).read(bytes.fromhex(known.rpartition(":")[2])), on_disk(path, now))
        return False

    def _between(self, a: str, b: str | None) -> list[Difference]:
        before = self._snapshots.moment(self._history.find(a))
        after = self._snapshots.look() if b is None else self._snapshots.moment(self._history.find(b))
        return sorted(differences(before.tree, after.tree), key=lambda difference: difference.path)
