"""Scan: one walk over the workspace, compared with the known tree."""

from __future__ import annotations

import errno
import gc
import os
import stat
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, Protocol

from msgspec import Struct, field

from ..core import Clock, InvalidState
from .attributes import read_attributes
from .change_watcher import ChangeWatcher, Hints
from .entry import COARSE_NS, TreeEntry, make_entry
from .folder_descent import Descent
from .locations import DEEPEST, DENIED, EXCLUDED, ExclusionPolicy, special
from .tree import Delta, WorkspaceTree, join, printable

FRESH_NS = 20_000_000
"""A file changed this shortly before the walk may change again without its times moving (older kernels)."""

CHANGED = "changed while it was read"
MOUNTED = "mounted from elsewhere"
ELSEWHERE = "another file system"


FEW_NAMES = 3
"""Up to this many names in a folder, opening each by its whole path is quicker."""

_COVERED = frozenset((stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK))


class PendingRead(Struct):
    """A file or link that has to be read."""

    folder: str
    name: str
    found: os.stat_result

    @property
    def path(self) -> str:
        return join(self.folder, self.name)


class Reader(Protocol):
    """Reads files as the walk finds them."""

    def read(self, pending: PendingRead, folder: int) -> None:
        """Read a file of an open folder."""

    def read_known(self, folder: str, name: str, found: os.stat_result) -> bool:
        """Read a known file by its path; False if it has to be opened through its folder."""


class ScanBudget(Struct, frozen=True):
    """Limits of a walk, beyond which it stops with an error."""

    files: int
    bytes: int
    seconds: float


class Scan(Struct):
    """What a walk found: folders and removals as a delta, what is still to be read, and what is not covered.

    `folders` is None for a walk over everything, else the folders that were scanned, and `checked` the single
    paths. `linked` are the files with several names, by inode.
    """

    delta: Delta = field(default_factory=Delta)
    pending: list[PendingRead] = field(default_factory=list)
    uncovered: dict[str, str] = field(default_factory=dict)
    fresh_ns: int = 0
    folders: set[str] | None = None
    checked: set[str] = field(default_factory=set)
    linked: dict[int, set[str]] = field(default_factory=dict)


class Visit(NamedTuple):
    """A folder to scan: all of it, or only these names; deep: also the folders in it that seem unchanged."""

    folder: str
    names: set[str] | None = None
    deep: bool = False


class WorkspaceScanner:
    """Walks a workspace through folder descriptors and finds what differs from the known tree."""

    def __init__(
        self,
        root: int,
        known: WorkspaceTree,
        policy: ExclusionPolicy,
        budget: ScanBudget,
        clock: Clock,
        *,
        watch: ChangeWatcher | None = None,
        linked: dict[int, set[str]] | None = None,
        mounts: Collection[str] = (),
    ) -> None:
        """With a `watch` every folder is watched before it is scanned. `linked`: files with several names;
        `mounts`: what is mounted inside."""
        self._root, self._known, self._policy, self._budget, self._clock = root, known, policy, budget, clock
        self._device = os.fstat(root).st_dev
        self._deadline = clock.monotonic() + budget.seconds
        self._files = self._bytes = 0
        self._strange_folders: dict[str, os.stat_result] = {}
        self._watch, self._linked = watch, linked or {}
        self._mounts = mounts
        self._followed: set[int] = set()
        self._unfollowed: set[int] = set()
        self._handled: set[str] = set()
        self._read: Reader | None = None
        trusted = watch is not None and watch.fine_times
        self.scan = Scan(fresh_ns=time.time_ns() - (0 if trusted else FRESH_NS))
        """What was found so far."""

    def walk(self) -> Scan:
        """Scan the whole workspace."""
        if self._watch is not None:
            self._watch.begin_walk()
        self._visit_all([Visit("", deep=True)])
        return self.scan

    def scan_changed(self, hints: Hints, more: Iterable[str] = (), read: Reader | None = None) -> Scan:
        """Scan only where the hints point, `more` known folders, and whatever is new there.

        With `read`, the files that the hints name are read while their folder is open; the rest is pending.
        """
        self._read = read
        self._files = self._known.files + len(self._known.folders)
        self.scan.folders = set()
        known = self._known.folders
        # New entries are found by their name in the folder above; last in, first out.
        visits = [Visit(folder, deep=True) for folder in hints.deep if folder in known]
        visits += [Visit(folder) for folder in set(more)]
        with without_gc():
            for folder, names in sorted(hints.names.items()):
                if folder in known and (
                    left := self._read_written(folder, names, restructured=folder in hints.restructured)
                ):
                    visits.append(Visit(folder, left))
            self._visit_all(visits)
        return self.scan

    def _read_written(self, folder: str, names: set[str], *, restructured: bool) -> set[str]:
        """Read the files that were only written to; returns the other names.

        There are few in each of many folders, so opening a file by its whole path saves opening its folder.
        """
        if restructured or self._read is None or len(names) > FEW_NAMES:
            return names
        left, known = set(), self._known.folders[folder]
        for name in names:
            old, path = known.get(name), join(folder, name)
            if old is None or old.mode & 0o170000 != stat.S_IFREG:
                left.add(name)
                continue
            try:
                found = os.stat(path, dir_fd=self._root, follow_symlinks=False)
            except OSError:
                left.add(name)
                continue
            # With the same mode it is still a regular file, which is safe to open.
            if found.st_mode != old.mode or found.st_nlink != 1 or found.st_dev != self._device:
                left.add(name)
                continue
            self._count_bytes(found, folder)
            if not self._read.read_known(folder, name, found):
                left.add(name)
                continue
            self.scan.checked.add(path)
            self._handled.add(path)
        self._check_deadline(folder)
        return left

    def _count_bytes(self, found: os.stat_result, folder: str) -> None:
        self._bytes += min(found.st_size, found.st_blocks * 512)
        if self._bytes > self._budget.bytes:
            raise over_budget(f"{self._budget.bytes:,} bytes", folder)

    def _check_deadline(self, folder: str) -> None:
        if self._clock.monotonic() > self._deadline:
            raise over_budget(f"{self._budget.seconds * 1000:.0f} ms", folder)

    def _visit_all(self, waiting: list[Visit]) -> None:
        with Descent(self._root, apart=self.scan.folders is not None) as descent, without_gc():
            found = os.fstat(self._root)
            old = self._known.root
            if old is None or not old.matches(found) or old.ctime_ns != found.st_ctime_ns:
                self._strange_folders[""] = found
                if not any(visit.folder == "" and visit.names is None for visit in waiting):
                    waiting.append(Visit(""))
            while waiting or (waiting := self._find_unfollowed()):
                visit = waiting.pop()
                folder, pending = visit.folder, len(self.scan.pending)
                if folder in self._mounts:
                    self._mark_uncovered(folder, MOUNTED)
                    continue
                try:
                    fd = descent.folder(folder)
                    if self.scan.folders is not None:
                        self._note_moved_times(folder, fd)
                    if visit.names is None:
                        self._visit(folder, fd, waiting, deep=visit.deep)
                    else:
                        self._visit_names(folder, fd, visit.names, waiting)
                except OSError as error:
                    gone = error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
                    if self.scan.folders is not None and folder and gone:
                        # It is no longer a folder: the folder above has the change.
                        above, _, name = folder.rpartition("/")
                        waiting.append(Visit(above, {name}))
                    else:
                        self._mark_uncovered(folder, why_unreadable(error))
                else:
                    if self._read is not None and visit.names is not None:
                        for one in self.scan.pending[pending:]:
                            self._read.read(one, fd)
                        del self.scan.pending[pending:]
                self._check_deadline(folder)

    def _note_moved_times(self, folder: str, fd: int) -> None:
        """Note the new times of a folder that a hint named: they moved with its entries."""
        if not folder or folder in self._strange_folders or (old := self._known.get(folder)) is None:
            return
        found = os.fstat(fd)
        if old.ctime_ns != found.st_ctime_ns or not old.matches(found):
            self._note_folder(folder, found, read_attributes(fd))

    def _visit_names(self, folder: str, fd: int, names: set[str], waiting: list[Visit]) -> None:
        """Compare some names in a folder with the known tree."""
        known = self._known.folders.get(folder, {})
        gone = set()
        for name in names:
            self.scan.checked.add(join(folder, name))
            try:
                found = os.stat(name, dir_fd=fd, follow_symlinks=False)
            except FileNotFoundError:
                gone.add(name)
                continue
            old = known.get(name)
            if old is None:
                self._files += 1
            elif old.ctime_ns == found.st_ctime_ns and old.matches(found):
                continue
            self._handle_entry(folder, name, found, old, waiting)
        if self._files > self._budget.files:
            raise over_budget(f"{self._budget.files:,} files", folder)
        if gone:
            self._forget(folder, gone & known.keys())

    def _visit(self, folder: str, fd: int, waiting: list[Visit], *, deep: bool) -> None:
        """Compare one folder with the known tree. The innermost loop, hence written plainly."""
        watching = self._watch is not None
        if self._watch is not None:
            self._watch.add(folder, fd, anew=deep or folder in self._strange_folders)
        if self.scan.folders is not None:
            self.scan.folders.add(folder)
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
                    # On most file systems, but not on all, the change time moves with these two as well.
                    and old.mtime_ns == found.st_mtime_ns
                    and old.mode == found.st_mode
                ):
                    if old.mode & 0o040000:  # of files, folders and links, folders alone have it
                        if deep:
                            waiting.append(Visit(prefix + name, None, deep))
                        continue
                else:
                    strange.append((name, found))
                    if len(strange) > self._budget.files:
                        raise over_budget(f"{self._budget.files:,} files", folder)
                if watching and found.st_nlink != 1 and not found.st_mode & 0o040000:
                    self.scan.linked.setdefault(found.st_ino, set()).add(prefix + name)
        self._files += len(names) - (0 if self.scan.folders is None else len(known))
        if self._files > self._budget.files:
            raise over_budget(f"{self._budget.files:,} files", folder)
        if len(names) - len(strange) != len(known):
            self._forget(folder, known.keys() - names)
        stranger = self._strange_folders.pop(folder, None)
        if stranger is not None:
            self._note_folder(folder, stranger, read_attributes(fd))
        for name, found in strange:
            self._handle_entry(folder, name, found, get(name), waiting, deep=deep)

    def _handle_entry(
        self,
        folder: str,
        name: str,
        found: os.stat_result,
        old: TreeEntry | None,
        waiting: list[Visit],
        *,
        deep: bool = False,
    ) -> None:
        """Handle a new or changed entry."""
        path = f"{folder}/{name}" if folder else name
        kind = stat.S_IFMT(found.st_mode)
        if kind not in _COVERED:
            self._mark_uncovered(path, special(found.st_mode) or "neither file, folder nor link")
        elif self._policy.excludes(path):
            self._mark_uncovered(path, EXCLUDED)
        elif found.st_dev != self._device and kind == stat.S_IFDIR:
            # In an overlay of two file systems each file tells its own: what is mounted here tells the mount table.
            self._mark_uncovered(path, ELSEWHERE)
        elif path in self._mounts:
            self._mark_uncovered(path, MOUNTED)
        elif kind == stat.S_IFDIR:
            if path.count("/") >= DEEPEST:
                self._mark_uncovered(path, f"deeper than {DEEPEST} folders")
                return
            self._strange_folders[path] = found
            waiting.append(Visit(path, deep=deep))
        else:
            if found.st_nlink > 1:
                self._follow_links(path, found, waiting)
            if old is not None and old.is_folder:
                self._wipe(path)
            if self.scan.folders is not None:
                if path in self._handled:
                    return
                self._handled.add(path)
            self._count_bytes(found, folder)
            self.scan.pending.append(PendingRead(folder, name, found))

    def _follow_links(self, path: str, found: os.stat_result, waiting: list[Visit]) -> None:
        """Visit the other names of a changed file, which no hint reports. A full walk finds all of them anyway."""
        inode = found.st_ino
        if self._watch is not None:
            self.scan.linked.setdefault(inode, set()).add(path)
        if inode in self._followed or self.scan.folders is None:
            return
        self._followed.add(inode)
        others = self._linked.get(inode, set()) - {path}
        if len(others) + 1 < found.st_nlink:
            # It had one name when it was seen last.
            self._unfollowed.add(inode)
        for other in others:
            above, _, name = other.rpartition("/")
            if above in self._known.folders:
                waiting.append(Visit(above, {name}))

    def _find_unfollowed(self) -> list[Visit]:
        """Where files that got more names had their first one."""
        inodes, self._unfollowed = self._unfollowed, set()
        if not inodes:
            return []
        found = []
        for folder, listing in self._known.folders.items():
            names = {name for name, entry in listing.items() if entry.ino in inodes}
            if names:
                found.append(Visit(folder, names))
        return found

    def _note_folder(self, path: str, found: os.stat_result, attrs: bytes) -> None:
        # A folder's listing is read on every walk, so its times can be trusted however recent they are.
        entry = make_entry(found, b"", attrs, fresh_ns=found.st_ctime_ns + COARSE_NS + 1)
        if path:
            folder, _, name = path.rpartition("/")
            self.scan.delta.put(folder, name, entry)
        else:
            self.scan.delta.root = entry

    def _mark_uncovered(self, path: str, reason: str) -> None:
        """Record that a path is not covered, and drop what was known of it."""
        self.scan.uncovered[path] = reason
        self._strange_folders.pop(path, None)
        if path and self._known.get(path) is not None:
            folder, _, name = path.rpartition("/")
            self._forget(folder, {name})

    def _forget(self, folder: str, gone: set[str]) -> None:
        for name in gone:
            old = self._known.folders[folder].get(name)
            if old is not None:
                self.scan.delta.put(folder, name, None)
                if old.is_folder:
                    self._wipe(join(folder, name))

    def _wipe(self, path: str) -> None:
        gone = {path, *(child for child, entry in self._known.below(path) if entry.is_folder)}
        self.scan.delta.wiped |= gone
        for folder in gone & self.scan.delta.changed.keys():
            del self.scan.delta.changed[folder]


def nothing_left(known: WorkspaceTree) -> Scan:
    """The scan of a workspace that was deleted as a whole: everything in it is gone."""
    scan = Scan()
    for name in known.folders.get("", {}):
        scan.delta.put("", name, None)
    scan.delta.wiped.update(path for path, entry in known.below("") if entry.is_folder)
    return scan


def why_unreadable(error: OSError) -> str:
    """Why a checkpoint does not cover something unreadable."""
    if isinstance(error, PermissionError):
        return DENIED
    return "the disk reports a read error" if error.errno == errno.EIO else CHANGED


def over_budget(what: str, folder: str) -> InvalidState:
    return InvalidState(
        f"more than {what} to save, which is over budget",
        where=printable(folder) or "the workspace",
        todo="Exclude folders with checkpoints.exclude, or raise checkpoints.budget_files, budget_bytes or budget_ms",
    )


@contextmanager
def without_gc() -> Iterator[None]:
    """Pause garbage collection: many short-lived values and no cycles."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
