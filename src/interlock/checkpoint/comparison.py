"""Comparison: two moments of a workspace side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from ..core import CheckpointInfo, InvalidState
from .change import Change, Difference, differences
from .contents import Contents
from .entry import TreeEntry
from .git_index import is_index, same_index
from .large_files import LARGE
from .plan import KnownTree
from .snapshot import Snapshots
from .store import CheckpointStore
from .tree import printable


class Comparison:
    """Compares checkpoints with each other and with the disk now."""

    def __init__(self, store: CheckpointStore, snapshots: Snapshots) -> None:
        self._store, self._snapshots, self._history = store, snapshots, snapshots.history

    def moment(self, wanted: str | None) -> KnownTree:
        """The workspace at a checkpoint; None: now."""
        if wanted is None:
            return self._snapshots.look()
        found = self._snapshots.moment(self._history.find(wanted))
        # The newest tree is shared, and moves on with the next checkpoint.
        return KnownTree(found.tree.copy(), found.uncovered)

    def changes(self, a: str, b: str | None) -> list[Change]:
        return [difference.to_change() for difference in self._between(a, b)]

    def patch(self, a: str, b: str | None) -> str:
        contents = Contents(self._store)

        def stored(path: str, entry: TreeEntry) -> bytes:
            return contents.read(entry.data)

        found = self._between(a, b)
        if b is not None:
            return patch(found, stored, stored)
        with self._snapshots.reader() as on_disk:
            return patch(found, stored, on_disk)

    def texts(self, a: str, b: str, wanted: Callable[[str], bool]) -> Iterator[tuple[str, str | None, str | None]]:
        """The wanted texts that differ between two checkpoints: path, before, after; None if there is none."""
        contents = Contents(self._store)

        def stored(path: str, entry: TreeEntry) -> bytes:
            return contents.read(entry.data)

        def whole(path: str, entry: TreeEntry | None) -> str | None:
            if entry is None or entry.kind != "file":
                return None
            lines = _text(path, entry, stored)
            return None if lines is None else "".join(lines)

        for found in self._between(a, b):
            if found.kind in ("created", "deleted", "content", "type") and wanted(found.path):
                yield printable(found.path), whole(found.path, found.a), whole(found.path, found.b)

    def differing(self, infos: list[CheckpointInfo]) -> Iterator[CheckpointInfo]:
        """The checkpoints that are not as the disk is now, in the order given."""
        now = self._snapshots.look()
        for info in infos:
            if any(True for _ in differences(now.tree, self.moment(info.id).tree)):
                yield info

    def is_same_index(self, path: str, known: str, now: TreeEntry) -> bool:
        """Whether a repository's index says what it said: git writes it again when it only looks at files."""
        if not is_index(path) or not known.startswith("file:") or now.kind != "file" or now.size >= LARGE:
            return False
        with suppress(OSError, InvalidState), self._snapshots.reader() as on_disk:
            return same_index(Contents(self._store).read(bytes.fromhex(known.rpartition(":")[2])), on_disk(path, now))
        return False

    def _between(self, a: str, b: str | None) -> list[Difference]:
        first = self._history.find(a)
        if b is None:
            after = self._snapshots.look()
        else:
            last = self._history.find(b)
            if first <= last and not any(delta for _, delta in self._history.deltas(first + 1, last)):
                # To put both together would take as long as there are checkpoints before them.
                return []
            after = self._snapshots.moment(last)
        before = self._snapshots.moment(first)
        return sorted(differences(before.tree, after.tree), key=lambda difference: difference.path)


LARGEST = 1024 * 1024
"""Texts from this size on are named, not shown: comparing them would take long."""

Read = Callable[[str, TreeEntry], bytes]
"""The content of a file at one of the two moments."""


def patch(found: Iterable[Difference], read_a: Read, read_b: Read) -> str:
    """A unified diff of everything that differs; what is not text is said in one line."""
    return "".join(line for difference in found for line in _one(difference, read_a, read_b))


def _one(difference: Difference, read_a: Read, read_b: Read) -> Iterator[str]:
    path, a, b = difference.path, difference.a, difference.b
    shown = printable(path)
    yield f"diff --interlock a/{shown} b/{shown}\n"
    yield from _headers(a, b)
    if (a is None or not a.is_folder) and (b is None or not b.is_folder) and difference.kind not in ("mode", "touched"):
        old, new = _text(path, a, read_a), _text(path, b, read_b)
        if old is None or new is None:
            yield "Not shown: not text, or too large\n"
            return
        from difflib import unified_diff

        names = (f"a/{shown}" if a is not None else "/dev/null", f"b/{shown}" if b is not None else "/dev/null")
        for line in unified_diff(old, new, *names):
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _headers(a: TreeEntry | None, b: TreeEntry | None) -> Iterator[str]:
    if a is None and b is not None:
        yield f"new {b.kind} mode {b.mode:o}\n"
    elif b is None and a is not None:
        yield f"deleted {a.kind} mode {a.mode:o}\n"
    elif a is not None and b is not None and a.mode != b.mode:
        yield f"old mode {a.mode:o}\nnew mode {b.mode:o}\n"


def _text(path: str, entry: TreeEntry | None, read: Read) -> list[str] | None:
    """The lines of a text; None for what is none. A link's text is its target."""
    if entry is None:
        return []
    if entry.size > LARGEST:
        return None
    content = entry.data if entry.is_link else read(path, entry)
    if b"\0" in content[:8192]:
        return None
    return content.decode("utf-8", "backslashreplace").splitlines(keepends=True)
