"""Fingerprint: whether a workspace is still unchanged since a tree, without loading the tree.

Covers path, type, inode, mode, size and both times of everything. It costs one stat of every file, and reads none.
If nothing is excluded, several `find` processes run at once, which takes half as long as a walk in Python.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Thread
from typing import NamedTuple

from ..core import pin_programs, verified
from .entry import SECOND
from .folder_descent import Descent
from .locations import ExclusionPolicy
from .scan import without_gc
from .tree import WorkspaceTree, join

FIND = "/usr/bin/find"
pin_programs(FIND)

FORM = "%y %i %m %s %T@ %C@ %p\\0"
"""The format in which `find` writes the same as `_record`."""

SHARES, DEALT = 2, 16
"""How many processes run at once, and how many folders are found before they are shared out."""

_TYPES = {stat.S_IFREG: "f", stat.S_IFDIR: "d", stat.S_IFLNK: "l"}


def of_tree(tree: WorkspaceTree) -> str | None:
    """The fingerprint of a tree; None if a file in it was too recent to be recognised."""
    root = tree.root
    if root is None:
        return None
    if not all(entry.ctime_ns for listing in tree.folders.values() for entry in listing.values()):
        return None
    return _whole([_record("", root.mode, root.ino, 0, root.mtime_ns, root.ctime_ns), *records_of(tree)])


def of_disk(root: int, policy: ExclusionPolicy, uncovered: Collection[str]) -> str | None:
    """The fingerprint of a folder as it is now, without what is not covered; None if it cannot be scanned."""
    top = os.fstat(root)
    record = _record("", top.st_mode, top.st_ino, 0, top.st_mtime_ns, top.st_ctime_ns)
    try:
        with without_gc():
            if not uncovered and not policy.patterns and (listed := list_all(root)) is not None:
                return _whole([record, *listed])
            with Descent(root) as descent:
                return _whole([record, *_Walk(descent, policy, uncovered).records()])
    except OSError:
        return None


def list_all(root: int) -> list[bytes] | None:
    """A record of everything in a folder, by `find`; None if there is no suitable `find`."""
    with Descent(root) as descent:
        walk = _Walk(descent, ExclusionPolicy(), ())
        records = list(walk.records(until=DEALT))
        listed = _list_below(root, walk.waiting)
        return None if listed is None else records + listed


class Listing(NamedTuple):
    """A record of everything on the disk, and the paths that are missing or differ from a tree."""

    records: frozenset[bytes]
    odd: set[str]

    @classmethod
    def compared(cls, root: int, tree: WorkspaceTree) -> Listing | None:
        """Everything in a folder, compared with a tree without exclusions; None if `find` cannot list it."""
        with ThreadPoolExecutor(1) as beside:
            listing = beside.submit(_list_set, root)
            expected = frozenset(records_of(tree))
            records = listing.result()
        return None if records is None else cls(records, _paths(expected ^ records))

    def again(self, root: int) -> Listing | None:
        """The same later: what was odd stays odd, and what has changed since is odd too."""
        records = _list_set(root)
        return None if records is None else Listing(records, self.odd | _paths(self.records ^ records))


def _list_set(root: int) -> frozenset[bytes] | None:
    try:
        listed = list_all(root)
    except OSError:
        return None
    return None if listed is None else frozenset(listed)


def _paths(records: Iterable[bytes]) -> set[str]:
    return {os.fsdecode(record.split(b" ", 6)[6][2:]) for record in records}


def records_of(tree: WorkspaceTree) -> list[bytes]:
    """What `list_all` returns for a tree that is unchanged on the disk."""
    modes = {entry.mode for listing in tree.folders.values() for entry in listing.values()}
    kinds = {mode: (_TYPES.get(stat.S_IFMT(mode), "?"), f"{stat.S_IMODE(mode):o}") for mode in modes}
    records: list[str] = []
    for folder, listing in tree.folders.items():
        below = f"./{folder}/" if folder else "./"
        for name, entry in listing.items():
            kind, mode = kinds[entry.mode]
            changed, touched = entry.mtime_ns, entry.ctime_ns
            if changed < SECOND or touched < SECOND:
                records.append(_line(join(folder, name), entry.mode, entry.ino, entry.size, changed, touched))
                continue
            # Slicing digits is much cheaper than dividing, and there are hundreds of thousands.
            at, came = str(changed), str(touched)
            records.append(
                f"{kind} {entry.ino} {mode} {entry.size} {at[:-9]}.{at[-9:]}0 {came[:-9]}.{came[-9:]}0 {below}{name}"
            )
    return os.fsencode("\0".join(records)).split(b"\0") if records else []


class _Walk:
    """Scans one folder after the other."""

    def __init__(self, descent: Descent, policy: ExclusionPolicy, uncovered: Collection[str]) -> None:
        self._descent, self._policy, self._uncovered = descent, policy, uncovered
        self.waiting = [""]

    def records(self, until: int = 0) -> Iterator[bytes]:
        """The records of what is in the folders, until none are left or `until` folders wait."""
        waiting = self.waiting
        while waiting and not 0 < until <= len(waiting):
            folder = waiting.pop(0) if until else waiting.pop()
            with os.scandir(self._descent.folder(folder)) as listing:
                for item in listing:
                    path, seen = join(folder, item.name), item.stat(follow_symlinks=False)
                    mode = seen.st_mode
                    kind = stat.S_IFMT(mode)
                    if kind not in _TYPES or path in self._uncovered or self._policy.excludes(path):
                        continue
                    yield _record(path, mode, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
                    if stat.S_ISDIR(mode):
                        waiting.append(path)


def _list_below(root: int, folders: list[str]) -> list[bytes] | None:
    """The records of everything below some folders; None if there is no suitable `find`."""
    if not folders:
        return []
    try:
        find = verified(FIND)
    except OSError:
        return None
    outputs: list[bytes] = []
    with ExitStack() as stack:
        running = []
        for share in filter(None, (folders[at::SHARES] for at in range(SHARES))):
            command = [find, *(f"./{folder}" for folder in share), "-mindepth", "1", "-printf", FORM]
            try:
                process = stack.enter_context(
                    subprocess.Popen(
                        command,
                        cwd=f"/proc/self/fd/{root}",
                        env={"LC_ALL": "C"},
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL,
                    )
                )
            except OSError:
                return None
            reader = Thread(target=lambda each=process: outputs.append(each.stdout.read()), daemon=True)
            reader.start()
            running.append((process, reader))
        for _, reader in running:
            reader.join()
    # A `find` that could not read something exits with an error.
    if any(process.returncode for process, _ in running):
        return None
    return [record for output in outputs for record in output.split(b"\0") if record]


def _record(path: str, mode: int, ino: int, size: int, mtime_ns: int, ctime_ns: int) -> bytes:
    return os.fsencode(_line(path, mode, ino, size, mtime_ns, ctime_ns))


def _line(path: str, mode: int, ino: int, size: int, mtime_ns: int, ctime_ns: int) -> str:
    kind = _TYPES.get(stat.S_IFMT(mode), "?")
    return (
        f"{kind} {ino} {stat.S_IMODE(mode):o} {size} {mtime_ns // SECOND}.{mtime_ns % SECOND:09}0"
        f" {ctime_ns // SECOND}.{ctime_ns % SECOND:09}0 ./{path}"
    )


def _whole(records: Iterable[bytes]) -> str:
    from _blake2 import blake2b  # hashlib loads a library of ciphers

    return blake2b(b"\0".join(sorted(records)), digest_size=32).hexdigest()
