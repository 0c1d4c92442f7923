"""Staging: prepares and verifies every new file inside the workspace before anything is changed."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

import zstandard

from ..core import O_PATH, InvalidState
from .attributes import write_attributes
from .change import Difference
from .content_intake import EMPTY
from .entry import TreeEntry
from .folder_descent import FOLDER_FLAGS, READ_FLAGS, Descent, opened
from .large_files import digest_of, unpack
from .packs import read_frame, write_all
from .store import CheckpointStore, ContentLocation, PackFrame
from .tree import WorkspaceTree


class Staging:
    """A private folder in the workspace, where files wait to be moved into place."""

    def __init__(self, root: int, name: str, contents: Contents, *, keep_times: bool) -> None:
        self._root, self._name, self._contents, self._keep_times = root, name, contents, keep_times
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=root)
        self.fd = os.open(name, FOLDER_FLAGS, dir_fd=root)

    def needs(self, step: Difference, descent: Descent) -> bool:
        """Whether a step needs a new file: not where only mode or times of its own file change."""
        if step.b is None or step.b.is_folder:
            return False
        if step.a is None or not step.a.is_file or not step.b.is_file or step.a.data != step.b.data:
            return True
        with open_in_place(step, descent) as fd:
            return fd is None

    def make(self, index: int, entry: TreeEntry) -> None:
        """Prepare one file or link under its number."""
        name = str(index)
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.fd)
        if entry.is_link:
            os.symlink(os.fsdecode(entry.data), name, dir_fd=self.fd)
            set_link(name, entry, self.fd, keep_times=self._keep_times)
            return
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with opened(name, flags, 0o600, dir_fd=self.fd) as out:
            self._contents.write(entry, out)
            set_file(out, entry, keep_times=self._keep_times)

    def has(self, index: int) -> bool:
        try:
            os.stat(str(index), dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def remove(self) -> None:
        """Remove the folder with whatever is still in it."""
        os.close(self.fd)
        remove_folder(self._root, self._name)


def remove_folder(root: int, name: str) -> None:
    """Remove a staging folder, which has only files and links of ours."""
    try:
        fd = os.open(name, FOLDER_FLAGS, dir_fd=root)
    except FileNotFoundError:
        return
    try:
        with os.scandir(fd) as listing:
            names = [item.name for item in listing]
        for held in names:
            os.unlink(held, dir_fd=fd)
    finally:
        os.close(fd)
    os.rmdir(name, dir_fd=root)


def set_file(fd: int, entry: TreeEntry, *, keep_times: bool) -> None:
    """Set owner, attributes, mode and time of an open file or folder, in an order in which none undoes another."""
    found = os.fstat(fd)
    uid, gid = entry.owner >> 32, entry.owner & 0xFFFFFFFF
    if (found.st_uid, found.st_gid) != (uid, gid):
        with suppress(PermissionError):
            os.fchown(fd, uid, gid)
    write_attributes(fd, entry.attrs)
    os.fchmod(fd, stat.S_IMODE(entry.mode))
    if keep_times:
        os.utime(fd, ns=(time.time_ns(), entry.mtime_ns))


def set_link(name: str, entry: TreeEntry, folder: int, *, keep_times: bool) -> None:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    uid, gid = entry.owner >> 32, entry.owner & 0xFFFFFFFF
    if (found.st_uid, found.st_gid) != (uid, gid):
        with suppress(PermissionError):
            os.chown(name, uid, gid, dir_fd=folder, follow_symlinks=False)
    if keep_times:
        os.utime(name, ns=(time.time_ns(), entry.mtime_ns), dir_fd=folder, follow_symlinks=False)


@contextmanager
def open_in_place(step: Difference, descent: Descent) -> Iterator[int | None]:
    """The file of a step, opened to change its mode and times; None if it has other names or cannot be opened."""
    folder, _, name = step.path.rpartition("/")
    try:
        fd = os.open(name, READ_FLAGS, dir_fd=descent.folder(folder))
    except OSError:
        yield None
        return
    try:
        found = os.fstat(fd)
        # A file with a second name may also be outside the workspace: never change it in place.
        own = stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and os.geteuid() in (0, found.st_uid)
        yield fd if own else None
    finally:
        os.close(fd)


def write_out(tree: WorkspaceTree, paths: Iterable[str], contents: Contents, folder: Path) -> None:
    """Write paths of a tree, with what is below them, into a folder that only we write; their parents as they were."""
    whole = [(path, entry) for path in paths if (entry := tree.get(path)) is not None]
    for path, entry in [each for top in whole for each in (top, *tree.below(top[0]))]:
        target = folder / path
        for parent in reversed(target.relative_to(folder).parents[:-1]):
            if not (folder / parent).exists():
                known = tree.get(str(parent))
                (folder / parent).mkdir(mode=0o755 if known is None else stat.S_IMODE(known.mode))
        if entry.is_folder:
            target.mkdir(mode=stat.S_IMODE(entry.mode), exist_ok=True)
        elif entry.is_link:
            target.symlink_to(os.fsdecode(entry.data))
        else:
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with opened(str(target), flags, 0o600) as out:
                contents.write(entry, out)
                set_file(out, entry, keep_times=True)


def give_rights(root: int, path: str, entry: TreeEntry | None) -> bool:
    """Make a file or folder of ours readable again, with the mode of this entry if there is one; whether that helped.

    A file with a second name may also be outside the workspace: never change it.
    """
    folder, _, name = path.rpartition("/")
    with suppress(OSError), Descent(root) as descent:
        fd = os.open(name, O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=descent.folder(folder))
        try:
            found = os.fstat(fd)
            kind = stat.S_IFMT(found.st_mode)
            usual = found.st_mode | (0o700 if kind == stat.S_IFDIR else 0o600)
            mode = entry.mode if entry is not None and stat.S_IFMT(entry.mode) == kind else usual
            own = kind == stat.S_IFDIR or (kind == stat.S_IFREG and found.st_nlink == 1)
            if own and mode != found.st_mode and os.geteuid() == found.st_uid:
                os.chmod(f"/proc/self/fd/{fd}", stat.S_IMODE(mode))  # noqa: PTH101  a descriptor that only names it
                return True
        finally:
            os.close(fd)
    return False


def remove_file(root: int, path: str) -> None:
    """Remove a file of a workspace."""
    folder, _, name = path.rpartition("/")
    with suppress(OSError), Descent(root) as descent:
        os.unlink(name, dir_fd=descent.folder(folder))


CACHED = 8
"""Unpacked frames to keep: files that were saved together are read together."""


class Contents:
    """Reads contents by digest, keeping the last few frames in memory."""

    def __init__(self, store: CheckpointStore) -> None:
        self._store = store
        self._frames: dict[int, bytes] = {}

    def read(self, digest: bytes) -> bytes:
        """A whole small content, verified."""
        if digest == EMPTY:
            return b""
        location = self._find(digest)
        try:
            content = self._frame(location.frame)[location.start : location.start + location.size]
        except (OSError, EOFError, zstandard.ZstdError) as error:
            raise damaged(self._store, digest, str(error)) from error
        if sha256(content).digest() != digest:
            raise damaged(self._store, digest, "its checksum is wrong")
        return content

    def write(self, entry: TreeEntry, out: int) -> None:
        """Write a file's content into an open, empty file, and verify what was written."""
        if entry.data == EMPTY:
            return
        location = self._find(entry.data)
        if location.frame.pack:
            write_all(out, self.read(entry.data))
            return
        try:
            unpack(self._store, entry.data, location, out)
        except (EOFError, FileNotFoundError, zstandard.ZstdError) as error:
            raise damaged(self._store, entry.data, str(error)) from error
        if digest_of(out, os.fstat(out).st_size, sparse=entry.is_sparse) != entry.data:
            raise damaged(self._store, entry.data, "its checksum is wrong")

    def _find(self, digest: bytes) -> ContentLocation:
        location = self._store.find(digest)
        if location is None:
            raise damaged(self._store, digest, "it is missing")
        return location

    def _frame(self, frame: PackFrame) -> bytes:
        content = self._frames.get(frame.id)
        if content is None:
            content = read_frame(self._store, frame)
            while len(self._frames) >= CACHED:
                del self._frames[next(iter(self._frames))]
            self._frames[frame.id] = content
        return content


def damaged(store: CheckpointStore, digest: bytes, why: str) -> InvalidState:
    return InvalidState(
        f"stored content {digest.hex()[:16]} cannot be read: {why}; nothing was changed",
        where=str(store.path),
        todo="See what is affected with: interlock checkpoint verify",
    )
