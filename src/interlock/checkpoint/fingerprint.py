"""Fingerprint: whether a workspace is still the very one of a tree, without loading the tree.

Over name, inode, mode, size and both times of everything. It costs one look at every file, and nothing is read.
"""

from __future__ import annotations

import hashlib
import os
import stat
from array import array
from collections.abc import Collection, Sequence

from .folder_descent import Descent
from .policy import ExclusionPolicy
from .scan import without_gc
from .tree import WorkspaceTree

_COVERED = frozenset((stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK))


def of_tree(tree: WorkspaceTree) -> str | None:
    """The fingerprint of a tree; None where a file in it was too fresh to be known again."""
    root = tree.root
    if root is None:
        return None
    parts = [_part("", [""], array("q", (root.mode, 0, root.mtime_ns, root.ctime_ns, root.ino)))]
    for folder, listing in tree.folders.items():
        names = sorted(listing)
        figures = array("q")
        for name in names:
            entry = listing[name]
            if not entry.ctime_ns:
                return None
            figures.extend((entry.mode, entry.size, entry.mtime_ns, entry.ctime_ns, entry.ino))
        parts.append(_part(f"/{folder}", names, figures))
    return _whole(parts)


def of_disk(root: int, policy: ExclusionPolicy, uncovered: Collection[str]) -> str | None:
    """The fingerprint of a folder as it is now, without what is not covered; None where it cannot be looked through."""
    try:
        with without_gc(), Descent(root) as descent:
            return _of_disk(root, descent, policy, uncovered)
    except OSError:
        return None


def _of_disk(root: int, descent: Descent, policy: ExclusionPolicy, uncovered: Collection[str]) -> str:
    top = os.fstat(root)
    parts = [_part("", [""], array("q", (top.st_mode, 0, top.st_mtime_ns, top.st_ctime_ns, top.st_ino)))]
    waiting = [""]
    choosy = bool(uncovered) or bool(policy.patterns)
    while waiting:
        folder = waiting.pop()
        prefix = f"{folder}/" if folder else ""
        found: dict[str, tuple[int, int, int, int, int]] = {}
        with os.scandir(descent.folder(folder)) as listing:
            for item in listing:
                name = item.name
                seen = item.stat(follow_symlinks=False)
                mode = seen.st_mode
                if stat.S_IFMT(mode) not in _COVERED or (
                    choosy and (prefix + name in uncovered or policy.excludes(prefix + name))
                ):
                    continue
                found[name] = (mode, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino)
                if stat.S_ISDIR(mode):
                    waiting.append(prefix + name)
        names = sorted(found)
        figures = array("q")
        for name in names:
            figures.extend(found[name])
        parts.append(_part(f"/{folder}", names, figures))
    return _whole(parts)


def _part(folder: str, names: Sequence[str], figures: array[int]) -> bytes:
    text = "\0".join((folder, *names)).encode("utf-8", "surrogateescape")
    return hashlib.blake2b(text + b"\0" + figures.tobytes(), digest_size=32).digest()


def _whole(parts: list[bytes]) -> str:
    return hashlib.blake2b(b"".join(sorted(parts)), digest_size=32).hexdigest()
