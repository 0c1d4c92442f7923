"""RestoreSteps: carries out a restore with renames through folder descriptors; can continue after a crash."""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress

import msgspec

from .change import Difference
from .entry import TreeEntry
from .folder_descent import READ_FLAGS, Descent, opened
from .large_files import digest_of
from .locations import DEVICE, special
from .plan import Draft
from .restore_record import Body
from .staging import Staging, open_in_place, set_file
from .tree import WorkspaceTree, within

CHANGED_MEANWHILE = "changed while the rollback ran"

Progress = Callable[[int, int], None]


class RestoreSteps:
    """One restore in progress. `left` has what could not be done, with the reason."""

    def __init__(self, root: int, body: Body, staging: Staging, descent: Descent) -> None:
        self._root, self._body, self._staging, self._descent = root, body, staging, descent
        self._steps = body.differences()
        self._index = {path: index for index, path in enumerate(self._steps)}
        self._opened: set[str] = set()
        inodes = Counter(step.a.ino for step in self._steps.values() if step.a is not None and step.a.is_file)
        self._shared = {ino for ino, names in inodes.items() if names > 1}
        self.left: dict[str, str] = {}
        self.done: list[Difference] = []

    def stage(self, progress: Progress | None = None) -> None:
        """Prepare every new file; nothing in the workspace changes yet."""
        for index, step in enumerate(self._steps.values()):
            if self._staging.needs(step, self._descent) and step.b is not None:
                self._staging.make(index, step.b)
            if progress is not None:
                progress(index, 2 * len(self._steps))

    def run(self, progress: Progress | None = None) -> None:
        """Carry out the steps: first removals, then folders, then files."""
        steps = self._steps.values()
        gone = [s for s in steps if s.a is not None and (s.b is None or s.a.is_folder != s.b.is_folder)]
        for step in sorted(gone, key=lambda s: s.path, reverse=True):
            self._try(step, self._remove)
        for step in sorted((s for s in steps if s.b is not None and s.b.is_folder), key=lambda s: s.path):
            self._try(step, self._make_folder)
        for count, step in enumerate(steps, len(self._steps) + 1):
            if step.b is not None and not step.b.is_folder:
                self._try(step, self._put_file)
            if progress is not None:
                progress(count, 2 * len(self._steps))
        self.done = [step for step in steps if step.path not in self.left]

    def _try(self, step: Difference, act: Callable[[Difference, int, str], None]) -> None:
        if step.path in self.left:
            return
        folder, _, name = step.path.rpartition("/")
        try:
            act(step, self._writable(folder), name)
        except OSError as error:
            reason = _harmless(error)
            if reason is None:
                raise
            self.left[step.path] = reason

    def _remove(self, step: Difference, folder: int, name: str) -> None:
        found = _stat(folder, name)
        if found is None or step.a is None:
            return
        if step.a.is_folder:
            if stat.S_ISDIR(found.st_mode):
                os.rmdir(name, dir_fd=folder)
            elif step.b is None:
                self.left[step.path] = CHANGED_MEANWHILE
        elif self._unchanged(step.a, found):
            os.unlink(name, dir_fd=folder)
        elif not (step.b is not None and stat.S_ISDIR(found.st_mode)):
            self.left[step.path] = CHANGED_MEANWHILE

    def _make_folder(self, step: Difference, folder: int, name: str) -> None:
        if not name:
            return
        found = _stat(folder, name)
        if found is not None and not stat.S_ISDIR(found.st_mode):
            self._clear_special(step, found, folder, name)
            found = None if step.path not in self.left else found
        if found is None:
            os.mkdir(name, 0o700, dir_fd=folder)

    def _put_file(self, step: Difference, folder: int, name: str) -> None:
        assert step.b is not None
        index = self._index[step.path]
        if not self._staging.has(index):
            if self._change_in_place(step) or self._is_there(step.b, folder, name):
                return
            self._staging.make(index, step.b)
            folder = self._writable(step.path.rpartition("/")[0])
        found = _stat(folder, name)
        expected = step.a if step.a is not None and not step.a.is_folder else None
        if found is not None:
            if expected is None or not self._unchanged(expected, found):
                self._clear_special(step, found, folder, name)
            if step.path in self.left:
                return
        os.rename(str(index), name, src_dir_fd=self._staging.fd, dst_dir_fd=folder)

    def _unchanged(self, entry: TreeEntry, found: os.stat_result) -> bool:
        """Whether a file is as in the safety checkpoint; removing one name of a file moves its other names' ctime."""
        if entry.ino in self._shared:
            entry = msgspec.structs.replace(entry, ctime_ns=0)
        return entry.matches(found)

    def _clear_special(self, step: Difference, found: os.stat_result, folder: int, name: str) -> None:
        """Something else is at the path: a FIFO or socket that the run put there is removed, a device on request."""
        what = special(found.st_mode)
        if what is not None and (self._body.force or what != DEVICE):
            os.unlink(name, dir_fd=folder)
        else:
            self.left[step.path] = f"{what} is in its place" if what else CHANGED_MEANWHILE

    def _change_in_place(self, step: Difference) -> bool:
        """Set mode and times of a file whose content stays; False if that is not enough."""
        if step.a is None or step.b is None or step.a.data != step.b.data or not (step.a.is_file and step.b.is_file):
            return False
        with open_in_place(step, self._descent) as fd:
            found = os.fstat(fd) if fd is not None else None
            if fd is None or found is None or (found.st_ino, found.st_size) != (step.a.ino, step.a.size):
                return False
            set_file(fd, step.b, keep_times=self._body.keep_times)
            return True

    def _is_there(self, entry: TreeEntry, folder: int, name: str) -> bool:
        """Whether the path already has the wanted content (a step that was carried out before a crash)."""
        found = _stat(folder, name)
        if found is None or found.st_mode != entry.mode:
            return False
        if entry.is_link:
            return os.fsencode(os.readlink(name, dir_fd=folder)) == entry.data
        with opened(name, READ_FLAGS, dir_fd=folder) as fd:
            return digest_of(fd, found.st_size, sparse=entry.is_sparse) == entry.data

    def _writable(self, path: str) -> int:
        """Open a folder, and make it writable if its mode forbids it; the last step sets the final mode."""
        fd = self._descent.folder(path)
        if path not in self._opened:
            found = os.fstat(fd)
            if found.st_mode & 0o300 != 0o300 and found.st_uid == os.geteuid():
                os.fchmod(fd, stat.S_IMODE(found.st_mode) | 0o700)
        self._opened.add(path)
        return fd

    def finish_folders(self) -> None:
        """Set owner, mode and time of every folder that was touched, deepest first."""
        for raw, entry in sorted(self._body.folders, key=lambda item: item[0], reverse=True):
            path = os.fsdecode(raw)
            with suppress(FileNotFoundError, NotADirectoryError):
                set_file(self._descent.folder(path), entry, keep_times=self._body.keep_times)


def _stat(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


HARMLESS = {
    **dict.fromkeys((errno.ELOOP, errno.ENOTDIR, errno.ENOENT, errno.EISDIR), CHANGED_MEANWHILE),
    **dict.fromkeys((errno.ENOTEMPTY, errno.EEXIST), "contains something that no checkpoint covers"),
    **dict.fromkeys((errno.EBUSY, errno.ETXTBSY), "is in use"),
    **dict.fromkeys((errno.EACCES, errno.EPERM), "no permission"),
}


def _harmless(error: OSError) -> str | None:
    """The reason to leave one path alone, where the error is that path's and not the whole restore's."""
    return HARMLESS.get(error.errno or 0)


def folders_to_finish(
    made: Draft, now: WorkspaceTree, then: WorkspaceTree, scope: tuple[str, ...], also: Iterable[str] = ()
) -> dict[str, TreeEntry]:
    """The final state of the folders that are touched, or whose times differ in the scope."""
    names = _names_afterwards(made, now)
    wanted = {""}
    for path in made.steps:
        wanted |= {path, path.rpartition("/")[0]}
    wanted.update(
        path
        for path in now.folders.keys() & then.folders.keys()
        if _time(now.get(path)) != _time(then.get(path)) and within(path, scope)
    )
    wanted.update(also)
    found: dict[str, TreeEntry] = {}
    for path in wanted:
        entry = _settled(path, made, now, then, names)
        if entry is not None:
            found[path] = entry
    return found


def _settled(
    path: str, made: Draft, now: WorkspaceTree, then: WorkspaceTree, names: dict[str, set[str]]
) -> TreeEntry | None:
    """The final state of a folder; None if it is not a folder, or stays as it is."""
    if path in made.steps:
        wanted = made.steps[path].b
        return wanted if wanted is not None and wanted.is_folder else None
    current, target = now.get(path), then.get(path)
    if current is None or not current.is_folder:
        return None
    mtime = current.mtime_ns
    # A folder with the same names as then gets its time of then; one in which something was left alone keeps its own.
    held = names[path] if path in names else now.folders.get(path, {}).keys()
    if target is not None and target.is_folder and held == then.folders.get(path, {}).keys():
        mtime = target.mtime_ns
    if mtime == current.mtime_ns and path not in names and path:
        return None
    return msgspec.structs.replace(current, mtime_ns=mtime)


def _time(entry: TreeEntry | None) -> int:
    return entry.mtime_ns if entry is not None else -1


def _names_afterwards(made: Draft, now: WorkspaceTree) -> dict[str, set[str]]:
    """The final names in every folder in which something changes."""
    names: dict[str, set[str]] = {}
    for path, step in made.steps.items():
        if not path:
            continue
        folder, _, name = path.rpartition("/")
        held = names.setdefault(folder, set(now.folders.get(folder, {})))
        if step.b is None:
            held.discard(name)
        else:
            held.add(name)
    return names
