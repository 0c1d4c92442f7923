"""Scan: one walk over the workspace, compared with what was known of it."""

from __future__ import annotations

import errno
import gc
import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from msgspec import Struct, field

from ..core import Clock, InvalidState
from .attributes import read_attributes
from .descent import Descent
from .entry import Entry, make_entry
from .policy import DEEPEST, Policy, special
from .tree import Delta, Tree, join, printable

FRESH_NS = 20_000_000
"""A file changed this shortly before the walk may change again without its times moving (older kernels tick slowly)."""

CHANGED = "changed while it was read"
DENIED = "no permission to read"
EXCLUDED = "excluded by configuration"


_COVERED = frozenset((stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK))


class Pending(Struct):
    """A file or link that has to be read."""

    folder: str
    name: str
    found: os.stat_result

    @property
    def path(self) -> str:
        return join(self.folder, self.name)


class Budget(Struct, frozen=True):
    """What a walk may meet before it stops with a clear word."""

    files: int
    bytes: int
    seconds: float


class Scan(Struct):
    """What a walk found: folders and removals as a delta, what is still to be read, and what is not covered.

    `folders` is None for a walk over everything, else the folders that were looked at.
    """

    delta: Delta = field(default_factory=Delta)
    pending: list[Pending] = field(default_factory=list)
    uncovered: dict[str, str] = field(default_factory=dict)
    fresh_ns: int = 0
    folders: set[str] | None = None


class Scanner:
    """Walks a workspace through folder descriptors and reports what differs from the known tree."""

    def __init__(self, root: int, known: Tree, policy: Policy, budget: Budget, clock: Clock) -> None:
        self._root, self._known, self._policy, self._budget, self._clock = root, known, policy, budget, clock
        self._device = os.fstat(root).st_dev
        self._deadline = clock.monotonic() + budget.seconds
        self._files = self._bytes = 0
        self._strange_folders: dict[str, os.stat_result] = {}
        self._scan = Scan(fresh_ns=time.time_ns() - FRESH_NS)

    def walk(self) -> Scan:
        """Look at the whole workspace."""
        self._look([""], deep=True)
        return self._scan

    def glance(self, hints: Iterable[str]) -> Scan:
        """Look only at the folders that the hints name or lie in, and at whatever is new below them."""
        self._files = self._known.files + len(self._known.folders)
        folders = self._nearest(hints)
        self._scan.folders = folders
        self._look(sorted(folders, reverse=True), deep=False)
        return self._scan

    def _look(self, waiting: list[str], *, deep: bool) -> None:
        with Descent(self._root) as descent, without_gc():
            found = os.fstat(self._root)
            old = self._known.root
            if old is None or not old.matches(found) or old.ctime_ns != found.st_ctime_ns:
                self._strange_folders[""] = found
                if "" not in waiting:
                    waiting.append("")
            while waiting:
                folder = waiting.pop()
                try:
                    self._visit(folder, descent.folder(folder), waiting, deep=deep)
                except OSError as error:
                    if not deep and folder and error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                        # A hint below something that is no folder any more: the folder above knows.
                        waiting.append(folder.rpartition("/")[0])
                    else:
                        self._miss(folder, DENIED if isinstance(error, PermissionError) else CHANGED)
                if self._clock.monotonic() > self._deadline:
                    raise over_budget(f"{self._budget.seconds * 1000:.0f} ms", folder)

    def _nearest(self, hints: Iterable[str]) -> set[str]:
        """The nearest known folder of every hint, and the hint itself where it is one."""
        known = self._known.folders
        found = set()
        for hint in hints:
            path = hint.strip("/")
            if path in known:
                found.add(path)
            above = path.rpartition("/")[0]
            while above not in known and above:
                above = above.rpartition("/")[0]
            found.add(above)
        return found

    def _visit(self, folder: str, fd: int, waiting: list[str], *, deep: bool) -> None:
        """Compare one folder with what was known of it. The innermost loop: plain on purpose."""
        known = self._known.folders.get(folder, {})
        get = known.get
        names: list[str] = []
        strange: list[tuple[str, os.stat_result]] = []
        prefix = f"{folder}/" if folder else ""
        with os.scandir(fd) as listing:
            for item in listing:
                name = item.name
                try:
                    found = item.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                names.append(name)
                old = get(name)
                if (
                    old is not None
                    and old.ctime_ns == found.st_ctime_ns
                    and old.ino == found.st_ino
                    and old.size == found.st_size
                    # On most file systems the change time moves with these two as well, but not on all.
                    and old.mtime_ns == found.st_mtime_ns
                    and old.mode == found.st_mode
                ):
                    if deep and old.mode & 0o040000:  # of files, folders and links, folders alone have it
                        waiting.append(prefix + name)
                else:
                    strange.append((name, found))
                    if len(strange) > self._budget.files:
                        raise over_budget(f"{self._budget.files:,} files", folder)
        self._files += len(names) - (0 if deep else len(known))
        if self._files > self._budget.files:
            raise over_budget(f"{self._budget.files:,} files", folder)
        if len(names) - len(strange) != len(known):
            self._forget(folder, known.keys() - names)
        stranger = self._strange_folders.pop(folder, None)
        if stranger is not None:
            self._note_folder(folder, stranger, read_attributes(fd))
        for name, found in strange:
            self._meet(folder, name, found, get(name), waiting)

    def _meet(self, folder: str, name: str, found: os.stat_result, old: Entry | None, waiting: list[str]) -> None:
        """Something new or changed."""
        path = f"{folder}/{name}" if folder else name
        kind = stat.S_IFMT(found.st_mode)
        if kind not in _COVERED:
            self._miss(path, special(found.st_mode) or "neither file, folder nor link")
        elif self._policy.excludes(path):
            self._miss(path, EXCLUDED)
        elif found.st_dev != self._device:
            self._miss(path, "another file system")
        elif kind == stat.S_IFDIR:
            if path.count("/") >= DEEPEST:
                self._miss(path, f"deeper than {DEEPEST} folders")
                return
            self._strange_folders[path] = found
            waiting.append(path)
        else:
            if old is not None and old.is_folder:
                self._wipe(path)
            self._bytes += min(found.st_size, found.st_blocks * 512)
            if self._bytes > self._budget.bytes:
                raise over_budget(f"{self._budget.bytes:,} bytes", folder)
            self._scan.pending.append(Pending(folder, name, found))

    def _note_folder(self, path: str, found: os.stat_result, attrs: bytes) -> None:
        # A folder's listing is read on every walk, so that its times need not be old to be trusted.
        entry = make_entry(found, b"", attrs, fresh_ns=found.st_ctime_ns + 1)
        if path:
            folder, _, name = path.rpartition("/")
            self._scan.delta.put(folder, name, entry)
        else:
            self._scan.delta.root = entry

    def _miss(self, path: str, reason: str) -> None:
        """Say that a path is not covered, and drop what was known of it."""
        self._scan.uncovered[path] = reason
        self._strange_folders.pop(path, None)
        if path and self._known.get(path) is not None:
            folder, _, name = path.rpartition("/")
            self._forget(folder, {name})

    def _forget(self, folder: str, gone: set[str]) -> None:
        for name in gone:
            old = self._known.folders[folder].get(name)
            if old is not None:
                self._scan.delta.put(folder, name, None)
                if old.is_folder:
                    self._wipe(join(folder, name))

    def _wipe(self, path: str) -> None:
        self._scan.delta.wiped.add(path)
        self._scan.delta.wiped.update(child for child, entry in self._known.below(path) if entry.is_folder)


def nothing_left(known: Tree) -> Scan:
    """What a walk would find in a workspace that was deleted as a whole: that everything in it is gone."""
    scan = Scan()
    for name in known.folders.get("", {}):
        scan.delta.put("", name, None)
    scan.delta.wiped.update(path for path, entry in known.below("") if entry.is_folder)
    return scan


def over_budget(what: str, folder: str) -> InvalidState:
    return InvalidState(
        f"more than {what} to save, which is over budget",
        where=printable(folder) or "the workspace",
        todo="Leave folders out with checkpoints.exclude, or raise checkpoints.budget_files, budget_bytes or budget_ms",
    )


@contextmanager
def without_gc() -> Iterator[None]:
    """Many short-lived values and no cycles: the collector would only cost."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
