"""RestoreVerification: after a restore, an independent walk checks the workspace.

Shares nothing with the walk that found the changes except how to open a folder; what was written is read again.
If nothing is excluded, `find` lists everything, and only what differs is checked here.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Set

from .attributes import read_attributes
from .entry import TreeEntry
from .fingerprint import Listing
from .folder_descent import READ_FLAGS, Descent, opened
from .large_files import digest_of
from .locations import ExclusionPolicy
from .tree import WorkspaceTree, join


class RestoreVerification:
    """Compares a folder on the disk with the tree that it should match."""

    def __init__(
        self,
        expected: WorkspaceTree,
        written: Set[str],
        uncovered: Collection[str],
        policy: ExclusionPolicy,
        *,
        keep_times: bool = True,
        listing: Listing | None = None,
    ) -> None:
        """`listing`: everything as it was just before, compared with the tree of then."""
        self._listing = listing
        self._expected, self._written, self._uncovered, self._policy = expected, written, uncovered, policy
        self._keep_times = keep_times
        self._wrong: dict[str, str] = {}

    def run(self, root: int) -> dict[str, str]:
        """Every path that is wrong, with the reason."""
        listing = None
        if self._listing is not None:
            listing = self._listing.again(root)
        elif not self._uncovered and not self._policy.patterns:
            listing = Listing.compared(root, self._expected)
        if listing is None:
            self._walk(root)
        else:
            self._check_paths(root, listing.odd | self._written)
        return self._wrong

    def _check_paths(self, root: int, paths: Iterable[str]) -> None:
        with Descent(root, apart=True) as descent:
            for path in sorted(paths):
                if not path:
                    self._check_root(os.fstat(root))
                    continue
                folder, _, name = path.rpartition("/")
                if folder not in self._expected.folders:
                    continue
                entry = self._expected.get(path)
                try:
                    fd = descent.folder(folder)
                    self._check(path, entry, name, fd, os.stat(name, dir_fd=fd, follow_symlinks=False))
                except FileNotFoundError:
                    if entry is not None:
                        self._wrong[path] = "is missing"
                except OSError as error:
                    self._wrong[path] = f"cannot be read: {error.strerror}"

    def _walk(self, root: int) -> None:
        expected, written = self._expected.folders, self._written
        touched = {path.rpartition("/")[0] for path in written}
        waiting = [""]
        if "" in written:
            self._check_root(os.fstat(root))
        with Descent(root) as descent:
            while waiting:
                here = waiting.pop()
                wanted = expected.get(here, {})
                try:
                    fd = descent.folder(here)
                    with os.scandir(fd) as listing:
                        found = {item.name: item.stat(follow_symlinks=False) for item in listing}
                except OSError as error:
                    self._wrong[here] = f"cannot be read: {error.strerror}"
                    continue
                calm = here not in touched
                for name, seen in found.items():
                    entry = wanted.get(name)
                    if (
                        calm
                        and entry is not None
                        and entry.ino == seen.st_ino
                        and entry.ctime_ns == seen.st_ctime_ns
                        and entry.mode == seen.st_mode
                        and entry.size == seen.st_size
                    ):
                        continue
                    self._check(join(here, name), entry, name, fd, seen)
                for name in wanted.keys() - found.keys():
                    self._wrong[join(here, name)] = "is missing"
                waiting += [join(here, name) for name, entry in wanted.items() if entry.is_folder and name in found]

    def _check_root(self, found: os.stat_result) -> None:
        if (wanted := self._expected.root) is not None and found.st_mode != wanted.mode:
            self._wrong[""] = f"has mode {found.st_mode:o}, should have {wanted.mode:o}"

    def _check(self, path: str, wanted: TreeEntry | None, name: str, fd: int, found: os.stat_result) -> None:
        """Check a path that was written, or differs from the safety checkpoint."""
        if wanted is None:
            if path not in self._uncovered and not self._policy.excludes(path):
                self._wrong[path] = "should not be there"
        elif found.st_mode != wanted.mode:
            self._wrong[path] = f"has mode {found.st_mode:o}, should have {wanted.mode:o}"
        elif path in self._written and (found.st_uid << 32 | found.st_gid) != wanted.owner:
            self._wrong[path] = "has a different owner"
        elif wanted.is_folder:
            return
        elif found.st_size != wanted.size:
            self._wrong[path] = f"has {found.st_size} bytes, should have {wanted.size}"
        elif self._keep_times and path in self._written and found.st_mtime_ns != wanted.mtime_ns:
            self._wrong[path] = "has a different time"
        elif path in self._written or not wanted.ctime_ns or not wanted.matches(found):
            try:
                self._check_content(path, wanted, name, fd, found)
            except OSError as error:
                self._wrong[path] = f"cannot be read: {error.strerror}"

    def _check_content(self, path: str, wanted: TreeEntry, name: str, folder: int, found: os.stat_result) -> None:
        if stat.S_ISLNK(found.st_mode):
            if os.fsencode(os.readlink(name, dir_fd=folder)) != wanted.data:
                self._wrong[path] = "points elsewhere"
            return
        with opened(name, READ_FLAGS, dir_fd=folder) as fd:
            if wanted.is_sparse:
                content = digest_of(fd, found.st_size, sparse=True)
            else:
                with open(fd, "rb", closefd=False) as file:
                    import hashlib

                    content = hashlib.file_digest(file, "sha256").digest()
            if content != wanted.data:
                self._wrong[path] = "has different content"
            elif read_attributes(fd) != wanted.attrs:
                self._wrong[path] = "has different attributes"
