"""ContentIntake: reads what a walk found new or changed, and stores its content."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from hashlib import sha256

from ..core import Clock, open_below
from .attributes import read_attributes
from .entry import TreeEntry, make_entry
from .folder_descent import READ_FLAGS, Descent
from .large_files import LARGE, digest_of, has_holes, store_large
from .packs import PackWriter
from .scan import CHANGED, PendingRead, Scan, ScanBudget, over_budget, why_unreadable
from .store import CheckpointStore
from .tree import WorkspaceTree, join

TRIES = 3
"""How often a file that changes while it is being read is read."""

EMPTY = sha256(b"").digest()
_UNREADABLE = {
    errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO, errno.ENODEV, errno.EINVAL, errno.EIO, errno.EAGAIN,
    errno.ESPIPE, errno.ESTALE, errno.ETXTBSY,
}  # fmt: skip


class ContentIntake:
    """Turns pending files into entries; contents are stored if there is a writer, else only compared."""

    def __init__(
        self, root: int, known: WorkspaceTree, scan: Scan, store: CheckpointStore, writer: PackWriter | None
    ) -> None:
        self._root, self._known, self._scan, self._store, self._writer = root, known, scan, store, writer

    def run(self, budget: ScanBudget, clock: Clock, progress: Callable[[int, int], None] | None = None) -> None:
        """Read everything pending, which completes the scan's delta."""
        total = len(self._scan.pending)
        if not total:
            return
        deadline = clock.monotonic() + budget.seconds
        if self._writer is not None:
            self._writer.expect(total)
        with Descent(self._root, apart=self._scan.folders is not None) as descent:
            for done, pending in enumerate(self._scan.pending):
                try:
                    folder = descent.folder(pending.folder)
                except OSError as error:
                    self._fail(pending, error)
                else:
                    self.read(pending, folder)
                if done % 256 == 0:
                    if progress is not None:
                        progress(done, total)
                    if clock.monotonic() > deadline:
                        raise over_budget(f"{budget.seconds * 1000:.0f} ms", pending.folder)
        self._scan.pending.clear()

    def read(self, pending: PendingRead, folder: int) -> None:
        """Read one file or link of an open folder."""
        try:
            if stat.S_ISLNK(pending.found.st_mode):
                entry = self._read_link(folder, pending)
            else:
                entry = self._read_file(folder, pending)
        except OSError as error:
            self._fail(pending, error)
            return
        if entry is None:
            self._scan.uncovered[pending.path] = CHANGED
        self._put(pending, entry)

    def read_known(self, folder: str, name: str, found: os.stat_result) -> bool:
        """Read a file by its whole path, through no link and no mount; False if it has to be opened through its folder.

        `found` may be outdated by now: only what is open counts.
        """
        try:
            fd = open_below(self._root, join(folder, name), READ_FLAGS, mounts=False)
        except OSError:
            return False
        try:
            entry = self._read_open(fd, found)
        except OSError:
            return False
        finally:
            os.close(fd)
        if entry is None or entry.ino != found.st_ino:
            return False
        self._scan.delta.put(folder, name, entry)
        return True

    def _fail(self, pending: PendingRead, error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            if error.errno not in _UNREADABLE and not isinstance(error, PermissionError):
                raise error
            self._scan.uncovered[pending.path] = why_unreadable(error)
        self._put(pending, None)

    def _put(self, pending: PendingRead, entry: TreeEntry | None) -> None:
        if entry is not None or self._known.get(pending.path) is not None:
            self._scan.delta.put(pending.folder, pending.name, entry)

    def _read_link(self, folder: int, pending: PendingRead) -> TreeEntry | None:
        target = os.fsencode(os.readlink(pending.name, dir_fd=folder))
        found = os.stat(pending.name, dir_fd=folder, follow_symlinks=False)
        if not _same(found, pending.found):
            return None
        return make_entry(found, target, b"", fresh_ns=self._scan.fresh_ns)

    def _read_file(self, folder: int, pending: PendingRead) -> TreeEntry | None:
        fd = os.open(pending.name, READ_FLAGS, dir_fd=folder)
        try:
            return self._read_open(fd, pending.found)
        finally:
            os.close(fd)

    def _read_open(self, fd: int, before: os.stat_result) -> TreeEntry | None:
        for _ in range(TRIES):
            if not stat.S_ISREG(before.st_mode):
                return None
            data = self._digest(fd, before)
            after = os.fstat(fd)
            if data is not None and _same(before, after):
                return make_entry(after, data, read_attributes(fd), fresh_ns=self._scan.fresh_ns)
            before = after
        return None

    def _digest(self, fd: int, found: os.stat_result) -> bytes | None:
        """The digest of the content, which is stored if there is a writer; None if it changed meanwhile."""
        if found.st_size >= LARGE:
            return self._digest_large(fd, found)
        content = _read(fd, found.st_size)
        if content is None:
            return None
        if not content:
            return EMPTY
        digest = sha256(content).digest()
        if self._writer is not None:
            self._writer.offer(digest, content)
        return digest

    def _digest_large(self, fd: int, found: os.stat_result) -> bytes | None:
        sparse = has_holes(found)
        if self._writer is None:
            return digest_of(fd, found.st_size, sparse=sparse)
        try:
            kept = store_large(self._store, fd, found.st_size, sparse=sparse)
        except EOFError:
            return None
        if not self._writer.has(kept.digest):
            self._writer.add_object(kept.digest, kept.length, kept.raw, kept.codec)
        return kept.digest


def _read(fd: int, size: int) -> bytes | None:
    """Exactly `size` bytes from the start; None if the file is shorter or longer by now."""
    content = os.pread(fd, size + 1, 0)
    if len(content) == size:
        return content
    if len(content) > size or not content:
        return None
    parts = [content]
    at = len(content)
    while at <= size and (part := os.pread(fd, size + 1 - at, at)):
        parts.append(part)
        at += len(part)
    return b"".join(parts) if at == size else None


def _same(a: os.stat_result, b: os.stat_result) -> bool:
    return (
        a.st_ctime_ns == b.st_ctime_ns
        and a.st_mtime_ns == b.st_mtime_ns
        and a.st_size == b.st_size
        and a.st_ino == b.st_ino
        and a.st_mode == b.st_mode
    )
