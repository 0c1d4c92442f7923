"""Change: one path that differs between two moments; and the differences of two trees."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from .entry import TreeEntry, same_content, state_of
from .tree import Delta, WorkspaceTree, join, printable, within

ChangeKind = Literal["created", "deleted", "content", "type", "mode", "attributes", "touched"]


class Change(Struct, frozen=True, omit_defaults=True):
    """How a path changed between two moments.

    `path` can be shown and encoded as JSON; `raw` is set if the name is not UTF-8. `touched`: only times differ.
    """

    path: str
    kind: ChangeKind
    was: str = ""
    now: str = ""
    size: int = 0
    raw: bytes | None = None

    @property
    def key(self) -> str:
        """The path as the file system has it."""
        return os.fsdecode(self.raw) if self.raw is not None else self.path


class Difference(Struct, frozen=True, gc=False):
    """A path that differs between two trees."""

    path: str
    a: TreeEntry | None
    b: TreeEntry | None

    @property
    def kind(self) -> ChangeKind:
        if self.a is None or self.b is None:
            return "created" if self.a is None else "deleted"
        if stat.S_IFMT(self.a.mode) != stat.S_IFMT(self.b.mode):
            return "type"
        if self.a.data != self.b.data:
            return "content"
        if self.a.mode != self.b.mode:
            return "mode"
        return "touched" if same_content(self.a, self.b) else "attributes"

    def to_change(self) -> Change:
        return Change(
            printable(self.path),
            self.kind,
            state_of(self.a),
            state_of(self.b),
            self.b.size if self.b is not None else self.a.size if self.a is not None else 0,
            None if is_plain(self.path) else os.fsencode(self.path),
        )


def differences(a: WorkspaceTree, b: WorkspaceTree, scope: Iterable[str] = ("",)) -> Iterator[Difference]:
    """Every path that differs, ignoring the times of folders."""
    tops = tuple(scope)
    everything = "" in tops
    if everything and a.root is not None and b.root is not None and not same_content(a.root, b.root):
        yield Difference("", a.root, b.root)
    nothing: dict[str, TreeEntry] = {}
    for folder in a.folders.keys() | b.folders.keys():
        mine, other = a.folders.get(folder, nothing), b.folders.get(folder, nothing)
        if mine == other:
            continue
        for name in mine.keys() | other.keys():
            x, y = mine.get(name), other.get(name)
            if x is y or alike(x, y):
                continue
            path = join(folder, name)
            if everything or within(path, tops):
                yield Difference(path, x, y)


def changes_by(delta: Delta, tree: WorkspaceTree) -> Iterator[tuple[str, TreeEntry | None]]:
    """The paths that a delta changes in a tree, with their new entries."""
    if delta.root is not None and not alike(tree.root, delta.root):
        yield "", delta.root
    for folder in delta.wiped:
        kept = delta.changed.get(folder, {})
        for name in tree.folders.get(folder, {}):
            if kept.get(name) is None:
                yield join(folder, name), None
    for folder, listing in delta.changed.items():
        known = tree.folders.get(folder, {})
        for name, entry in listing.items():
            if not alike(known.get(name), entry):
                yield join(folder, name), entry


def alike(a: TreeEntry | None, b: TreeEntry | None) -> bool:
    """Whether two entries are equal; times count, except a folder's."""
    return same_content(a, b) and (a is None or b is None or a.is_folder or a.mtime_ns == b.mtime_ns)


def is_plain(path: str) -> bool:
    return path.isascii() or printable(path) == path
