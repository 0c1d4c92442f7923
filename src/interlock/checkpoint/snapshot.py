"""Snapshots: scan the workspace and store the result as a checkpoint."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

import msgspec

from ..config import Checkpoints as Settings
from ..core import CheckpointInfo, Clock, InvalidState
from .change import changes_by, differences
from .change_watcher import ChangeWatcher, Hints
from .content_intake import ContentIntake
from .entry import TreeEntry
from .fingerprint import Listing, of_disk, of_tree
from .folder_descent import FOLDER_FLAGS, READ_FLAGS, Descent, opened
from .history import SHOWN, CheckpointHistory
from .locations import ExclusionPolicy, mounts_inside
from .packs import PackWriter
from .plan import KnownTree
from .scan import ELSEWHERE, MOUNTED, Scan, ScanBudget, WorkspaceScanner, nothing_left
from .store import CheckpointStore, no_space
from .tree import Delta, WorkspaceTree, join, printable

Progress = Callable[[int, int], None]

PATROL = 32
"""Entries that each checkpoint scans without a hint, in turn: a walk over everything, bit by bit."""

FEW = 1000
"""Up to this many names are read as they are found; for more, the store's digests are loaded first."""


MANY = 5_000
"""From this many files on, listing everything with `find` is quicker than a walk."""


class Snapshots:
    """Keeps the newest tree in memory, so that only what changed is read."""

    def __init__(self, workspace: str, store: CheckpointStore, settings: Settings, clock: Clock) -> None:
        self._workspace, self._store, self._clock = workspace, store, clock
        self.history = CheckpointHistory(store)
        self.policy = ExclusionPolicy(settings.exclude)
        self._budget = ScanBudget(settings.budget_files, settings.budget_bytes, settings.budget_ms / 1000)
        self._tree = WorkspaceTree()
        self._uncovered: dict[str, str] = {}
        self._seq = -1
        self._newest: CheckpointInfo | None = None
        self._walked = False
        self._watch: ChangeWatcher | None = None
        self._linked: dict[int, set[str]] = {}
        self._patrol: Iterator[str] = iter(())
        self._suspects = Hints()
        self._mounts: frozenset[str] = frozenset()
        self.listing: Listing | None = None
        """Everything as it was at the newest checkpoint, if that was listed; until `distrust`."""

    def watch(self, watch: ChangeWatcher) -> None:
        """From now on scan only where the watch points, after one more walk."""
        self._watch, self._walked = watch, False

    def close(self) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def create(
        self,
        info: CheckpointInfo,
        *,
        walk: bool = True,
        own: bool = False,
        extra: bytes | None = None,
        progress: Progress | None = None,
    ) -> CheckpointInfo:
        """Make a checkpoint of the workspace now; `info` says why, the rest is filled in.

        Without `walk` only what may have changed is scanned, if a watch reports that.
        """
        writer = PackWriter(self._store)
        try:
            with self._root_or_none() as root, no_space(self._store.path):
                if not walk and (unchanged := self._start_unchanged(root, info, extra)) is not None:
                    return unchanged
                self._refresh()
                self.listing = None
                hints = self._hints()
                if walk:
                    hints = self._list_all(root, hints)
                scan = self._read(root, hints, writer, progress)
                writer.finish()
                if extra is None and (same := self._newest_again(info, scan)) is not None:
                    return same
                anew = not self._same_policy()
                # New inodes or change times only: kept in memory, not worth a delta.
                delta = Delta() if self._tree.stays(scan.delta) else scan.delta
                before = self._tree if not anew else self.history.tree(self._seq) if self._seq else WorkspaceTree()
                mine = list(changes_by(scan.delta, before)) if own and not anew else []
                self._seq = -1
                self._apply_scan(scan)
                if own and anew:
                    mine = [(difference.path, difference.b) for difference in differences(before, self._tree)]
                if not self._tree.files and {ELSEWHERE, MOUNTED} & {*self._uncovered.values()}:
                    raise InvalidState(
                        "a checkpoint would be empty: everything in the workspace is on another file system",
                        where=self._workspace,
                        todo="Use a folder on the file system itself as the workspace",
                    )
                info = self._describe(info, scan)
                with self._store.transaction():
                    writer.record()
                    info = self.history.append(info, delta, self._tree, self._uncovered, own=mine, whole=anew)
                    if anew:
                        self._store.set_meta("policy", "\n".join(self.policy.patterns))
                    if extra is not None:
                        self._store.db.execute("INSERT INTO extra VALUES(?,?)", (info.id, extra))
                    self._store.set_meta("current", info.id)
                    self._store.drop_meta("reread")
                    self._store.note_flushed()
                writer.flush_later()
                self._seq, self._newest = int(info.id[1:].partition("-")[0]), info
        except BaseException:
            # The notifications were consumed but not used.
            self._walked = False
            raise
        finally:
            writer.close()
        return info

    def scan_now(self) -> KnownTree:
        """The workspace now; nothing is stored."""
        with self._root_or_none() as root:
            self._refresh()
            scan = self._read(root, None, None)
        tree = self._tree.copy()
        tree.apply(scan.delta)
        return KnownTree(tree, scan.uncovered)

    def warm_up(self) -> None:
        """Load the newest tree and watch every folder; what differs from the tree is scanned next time."""
        with self._root_or_none() as root:
            if root is None or self._watch is None:
                return
            newest = self._newest
            self._refresh()
            if newest is not None and newest.id.startswith(f"c{self._seq}-"):
                self._newest = newest
            self._watch.drain()
            self._mounts = mounts_inside(self._workspace)
            scan = self._scanner(root, self._watch).walk()
        names = self._suspects.names
        for folder, listing in scan.delta.changed.items():
            names.setdefault(folder, set()).update(listing)
        for pending in scan.pending:
            names.setdefault(pending.folder, set()).add(pending.name)
        for path in scan.uncovered.keys() ^ self._uncovered.keys():
            folder, _, name = path.rpartition("/")
            names.setdefault(folder, set()).add(name)
        self._linked, self._walked = scan.linked, True

    def note_fingerprint(self) -> None:
        """Store the fingerprint of the newest checkpoint's workspace."""
        if self._seq != self.history.head() or not self._walked:
            return
        mark = of_tree(self._tree)
        with self._store.transaction():
            if mark is None:
                self._store.drop_meta("fingerprint")
            else:
                self._store.set_meta("fingerprint", f"{self._seq}:{mark}")

    @contextmanager
    def reader(self) -> Iterator[Callable[[str, TreeEntry], bytes]]:
        """Reads files of the workspace as they are now."""
        with self._root_or_none() as root:
            if root is None:
                yield _nothing_to_read
                return
            with Descent(root) as descent:

                def read(path: str, entry: TreeEntry) -> bytes:
                    folder, _, name = path.rpartition("/")
                    with opened(name, READ_FLAGS, dir_fd=descent.folder(folder)) as fd:
                        return os.pread(fd, entry.size, 0)

                yield read

    def newest(self) -> KnownTree:
        """The tree of the newest checkpoint; not to be changed."""
        self._refresh()
        return KnownTree(self._tree, self._uncovered)

    def moment(self, seq: int) -> KnownTree:
        """The workspace at a checkpoint; not to be changed."""
        if seq == self._seq == self.history.head() and self._same_policy() and self._store.get_meta("reread") is None:
            return KnownTree(self._tree, self._uncovered)
        return KnownTree(self.history.tree(seq), self.history.uncovered(seq))

    def distrust(self) -> None:
        """Make the next checkpoint walk everything."""
        self._walked = False
        self._newest = self.listing = None

    @contextmanager
    def root(self) -> Iterator[int]:
        """The workspace's own folder, open; InvalidState if it cannot be opened, as when it is a link."""
        try:
            root = os.open(self._workspace, FOLDER_FLAGS)
        except OSError as error:
            raise InvalidState(
                f"the workspace cannot be opened: {error.strerror}",
                where=printable(self._workspace),
                todo="It must be a folder, not a link",
            ) from error
        try:
            yield root
        finally:
            os.close(root)

    @contextmanager
    def _root_or_none(self) -> Iterator[int | None]:
        """The same; None if a workspace with checkpoints was deleted as a whole."""
        try:
            os.lstat(self._workspace)
            deleted = False
        except OSError as error:
            # A disk that fails is not a folder that was deleted.
            deleted = isinstance(error, FileNotFoundError | NotADirectoryError) and self.history.head() > 0
        if deleted:
            yield None
            return
        with self.root() as root:
            yield root

    def _refresh(self) -> None:
        """Load the newest tree if ours is stale because of another process or a failure."""
        head = self.history.head()
        reread = self._store.get_meta("reread") is not None
        if head == self._seq and not reread:
            return
        self._tree = self.history.tree(head) if head and self._same_policy() else WorkspaceTree()
        self._uncovered = self.history.uncovered(head) if head else {}
        self._seq, self._newest = head, None
        self._walked = False
        if reread:
            self._tree.distrust()

    def _same_policy(self) -> bool:
        """Whether the newest checkpoint had these exclusions; if not, everything is read again."""
        return (self._store.get_meta("policy") or "") == "\n".join(self.policy.patterns)

    def _start_unchanged(self, root: int | None, info: CheckpointInfo, extra: bytes | None) -> CheckpointInfo | None:
        """A run's first checkpoint, if the workspace is unchanged since the newest one: no tree is loaded."""
        if root is None or self._seq != -1 or self._newest is not None or self._watch is None or extra is not None:
            return None
        mark, head = self._store.get_meta("fingerprint") or "", self.history.head()
        known = mark.startswith(f"{head}:") and self._same_policy() and self._store.get_meta("reread") is None
        uncovered = self.history.uncovered(head) if known else {}
        if not known or of_disk(root, self.policy, uncovered) != mark.partition(":")[2]:
            return None
        before = self.history.info(head)
        info = msgspec.structs.replace(
            info,
            files=before.files,
            bytes=before.bytes,
            not_covered=before.not_covered,
            basis="walk",
            parent=self._store.get_meta("current"),
        )
        with self._store.transaction():
            info = self.history.append(info, Delta(), None, uncovered)
            self._store.set_meta("current", info.id)
            self._store.set_meta("fingerprint", f"{self.history.head()}:{mark.partition(':')[2]}")
            self._store.note_flushed()
        self._newest = info
        return info

    @property
    def is_cold(self) -> bool:
        """Whether there is a watch that does not watch anything yet."""
        return self._watch is not None and not self._walked

    def _hints(self) -> Hints | None:
        """What to scan; None: everything."""
        if self._watch is None:
            return None
        hints = self._watch.drain()
        suspects, self._suspects = self._suspects, Hints()
        if not self._walked or hints is None:
            return None
        for folder, names in suspects.names.items():
            hints.names.setdefault(folder, set()).update(names)
        hints.restructured.update(suspects.names)
        self._distrust_written(hints.names)
        return hints

    def _distrust_written(self, names: dict[str, set[str]]) -> None:
        """Have files that may have been written read, whatever their times say: a write moves these before the content,
        and writes through a memory map may not move them at all."""
        self._tree.distrust(names)
        if self._linked:
            found = (self._tree.get(join(folder, name)) for folder, held in names.items() for name in held)
            for path in {path for entry in found if entry for path in self._linked.get(entry.ino, ())}:
                folder, _, name = path.rpartition("/")
                self._tree.distrust({folder: (name,)})

    def _list_all(self, root: int | None, hints: Hints | None) -> Hints | None:
        """What to scan according to a list of everything, not only the hints; None: walk everything."""
        complete = not self._uncovered and not self.policy.patterns and self._same_policy()
        if root is None or hints is None or not complete or self._tree.files < MANY:
            return None
        self.listing = Listing.compared(root, self._tree)
        if self.listing is None:
            return None
        for path in self.listing.odd:
            folder, _, name = path.rpartition("/")
            hints.names.setdefault(folder, set()).add(name)
            hints.restructured.add(folder)
        return hints

    def _read(
        self, root: int | None, hints: Hints | None, writer: PackWriter | None, progress: Progress | None = None
    ) -> Scan:
        """What differs from the newest tree, with contents, which are stored if there is a writer."""
        if root is None:
            return nothing_left(self._tree)
        if hints is None:
            self._mounts = mounts_inside(self._workspace)
        scanner = self._scanner(root, self._watch if writer is not None else None)
        intake = ContentIntake(root, self._tree, scanner.scan, self._store, writer)
        if hints is None:
            scanner.walk()
        else:
            few = sum(map(len, hints.names.values())) <= FEW
            scanner.scan_changed(hints, self._others(), intake if few else None)
        intake.run(self._budget, self._clock, progress)
        return scanner.scan

    def _scanner(self, root: int, watch: ChangeWatcher | None) -> WorkspaceScanner:
        return WorkspaceScanner(
            root,
            self._tree,
            self.policy,
            self._budget,
            self._clock,
            watch=watch,
            linked=self._linked,
            mounts=self._mounts,
        )

    def _others(self) -> list[str]:
        """Folders to scan without a hint: those that are not watched, and a few of all in turn."""
        assert self._watch is not None
        found, entries = list(self._watch.unwatched), 0
        while entries < PATROL:
            folder = next(self._patrol, None)
            if folder is None:
                self._patrol = iter(list(self._tree.folders))
                break
            found.append(folder)
            entries += 1 + len(self._tree.folders.get(folder, ()))
        return found

    def _apply_scan(self, scan: Scan) -> None:
        self._tree.apply(scan.delta)
        self._walked = self._walked or scan.folders is None
        if scan.folders is None:
            self._uncovered, self._linked = scan.uncovered, scan.linked
            return
        self._uncovered = self._kept_uncovered(scan) | scan.uncovered
        for inode, paths in scan.linked.items():
            self._linked.setdefault(inode, set()).update(paths)

    def _kept_uncovered(self, scan: Scan) -> dict[str, str]:
        """What was not covered, and was not scanned again."""
        folders = scan.folders or set()
        gone = folders | scan.delta.wiped
        return {
            path: why
            for path, why in self._uncovered.items()
            if path not in scan.checked and path.rpartition("/")[0] not in gone
        }

    def _newest_again(self, info: CheckpointInfo, scan: Scan) -> CheckpointInfo | None:
        """The run's newest checkpoint, if neither the workspace nor the run has changed since."""
        newest = self._newest
        if newest is None or info.label or info.run_id is None or "safety" in (info.cause, newest.cause):
            return None
        # Equal files at another step are another checkpoint: a rollback restores the conversation too.
        if (newest.run_id, newest.step, newest.cause, newest.label) != (info.run_id, info.step, info.cause, ""):
            return None
        if not self._tree.stays(scan.delta) or not self._same_uncovered(scan):
            return None
        self._apply_scan(scan)
        return msgspec.structs.replace(
            newest,
            time=info.time,
            basis=self._basis(scan),
            success_rate=info.success_rate,
            last_error_time=info.last_error_time,
        )

    def _same_uncovered(self, scan: Scan) -> bool:
        kept = {} if scan.folders is None else self._kept_uncovered(scan)
        return kept | scan.uncovered == self._uncovered

    def _describe(self, info: CheckpointInfo, scan: Scan) -> CheckpointInfo:
        return msgspec.structs.replace(
            info,
            files=self._tree.files,
            bytes=self._tree.bytes,
            not_covered=describe_uncovered(self._uncovered),
            basis=self._basis(scan),
            parent=self._store.get_meta("current"),
        )

    def _basis(self, scan: Scan) -> Literal["walk", "hints"]:
        return "walk" if scan.folders is None or self.listing is not None else "hints"


def describe_uncovered(uncovered: dict[str, str]) -> tuple[str, ...]:
    """What is not covered, for people: the first few paths, and the number of others."""
    lines = [f"{printable(path)}: {why}" for path, why in sorted(uncovered.items())[:SHOWN]]
    more = len(uncovered) - SHOWN
    return (*lines, f"and {more:,} more") if more > 0 else tuple(lines)


def _nothing_to_read(path: str, entry: TreeEntry) -> bytes:
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
