"""Verification: after a restore, an independent walk says whether the workspace is what it should be.

Shares nothing with the walk that found the changes: other calls, other order, contents read anew.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection

from .attributes import read_attributes
from .descent import READ_FLAGS
from .entry import Entry
from .large import digest_of
from .policy import Policy
from .tree import Tree


class Verification:
    """Compares a folder on the disk with the tree that it should be."""

    def __init__(self, expected: Tree, written: Collection[str], uncovered: Collection[str], policy: Policy) -> None:
        self._expected, self._written, self._uncovered, self._policy = expected, written, uncovered, policy
        self.keep_times = True
        self.wrong: dict[str, str] = {}

    def run(self, root: int) -> dict[str, str]:
        """Every path that is not as it should be, with the reason."""
        for top, folders, files, fd in os.fwalk(".", dir_fd=root, follow_symlinks=False):
            here = "" if top == "." else top[2:]
            wanted = self._expected.folders.get(here, {})
            names = folders + files
            for name in names:
                path = f"{here}/{name}" if here else name
                self._check(path, wanted.get(name), name, fd)
            for name in wanted.keys() - set(names):
                self.wrong[f"{here}/{name}" if here else name] = "is missing"
            folders[:] = [name for name in folders if name in wanted and wanted[name].is_folder]
        return self.wrong

    def _check(self, path: str, wanted: Entry | None, name: str, fd: int) -> None:
        found = os.stat(name, dir_fd=fd, follow_symlinks=False)
        if wanted is None:
            if path not in self._uncovered and not self._policy.excludes(path):
                self.wrong[path] = "should not be there"
        elif found.st_mode != wanted.mode:
            self.wrong[path] = f"has mode {found.st_mode:o}, should have {wanted.mode:o}"
        elif wanted.is_folder:
            return
        elif found.st_size != wanted.size:
            self.wrong[path] = f"has {found.st_size} bytes, should have {wanted.size}"
        elif path in self._written or not wanted.matches(found) or not wanted.ctime_ns:
            self._check_content(path, wanted, name, fd, found)

    def _check_content(self, path: str, wanted: Entry, name: str, folder: int, found: os.stat_result) -> None:
        if stat.S_ISLNK(found.st_mode):
            if os.fsencode(os.readlink(name, dir_fd=folder)) != wanted.data:
                self.wrong[path] = "points elsewhere"
            return
        fd = os.open(name, READ_FLAGS, dir_fd=folder)
        try:
            if wanted.is_sparse:
                content = digest_of(fd, found.st_size, sparse=True)
            else:
                with open(fd, "rb", closefd=False) as file:
                    content = hashlib.file_digest(file, "sha256").digest()
            if content != wanted.data:
                self.wrong[path] = "has other content"
            elif read_attributes(fd) != wanted.attrs:
                self.wrong[path] = "has other attributes"
            elif self.keep_times and path in self._written and found.st_mtime_ns != wanted.mtime_ns:
                self.wrong[path] = "has another time"
        finally:
            os.close(fd)
