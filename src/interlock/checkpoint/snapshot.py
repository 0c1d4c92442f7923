"""Snapshots: look at the workspace, and keep what was seen as a checkpoint."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import msgspec

from ..config.model import Checkpoints as Settings
from ..core import CheckpointInfo, Clock, InvalidState
from .change import changes_by, differences
from .descent import READ_FLAGS, Descent, open_root
from .entry import Entry
from .history import SHOWN, History
from .intake import Intake
from .packs import PackWriter
from .plan import Moment
from .policy import Policy
from .scan import Budget, Scan, Scanner, nothing_left
from .store import Store, no_space
from .tree import Tree, printable

Progress = Callable[[int, int], None]


class Snapshots:
    """Keeps the newest tree at hand, so that only what changed is read."""

    def __init__(self, workspace: str, store: Store, settings: Settings, clock: Clock) -> None:
        self._workspace, self._store, self._clock = workspace, store, clock
        self.history = History(store)
        self.policy = Policy(settings.exclude)
        self._budget = Budget(settings.budget_files, settings.budget_bytes, settings.budget_ms / 1000)
        self._tree = Tree()
        self._uncovered: dict[str, str] = {}
        self._seq = -1
        self._newest: CheckpointInfo | None = None
        self._walked = False

    def take(
        self,
        info: CheckpointInfo,
        *,
        hints: Iterable[str] | None = None,
        own: bool = False,
        extra: bytes | None = None,
        progress: Progress | None = None,
    ) -> CheckpointInfo:
        """Make a checkpoint of the workspace now; `info` says why, the rest is filled in here."""
        root = self._open_if_there()
        writer = PackWriter(self._store)
        try:
            with no_space(self._store.path):
                self._refresh()
                scan = self._read(root, hints, writer, progress)
                writer.finish()
                if extra is None and (same := self._newest_again(info, scan)) is not None:
                    return same
                anew = not self._same_policy()
                before = self._tree if not anew else self.history.tree(self._seq) if self._seq else Tree()
                mine = list(changes_by(scan.delta, before)) if own and not anew else []
                self._seq = -1
                self._take_over(scan)
                if own and anew:
                    mine = [(difference.path, difference.b) for difference in differences(before, self._tree)]
                info = self._describe(info, scan)
                with self._store.transaction():
                    writer.record()
                    info = self.history.append(info, scan.delta, self._tree, self._uncovered, own=mine, whole=anew)
                    self._store.set_meta("policy", "\n".join(self.policy.patterns))
                    if extra is not None:
                        self._store.db.execute("INSERT INTO extra VALUES(?,?)", (info.id, extra))
                    self._store.set_meta("current", info.id)
                    self._store.drop_meta("reread")
                    self._store.note_flushed()
                writer.flush_later()
                self._seq, self._newest = self.history.head(), info
                self._walked = self._walked or info.basis == "walk"
        finally:
            writer.close()
            if root is not None:
                os.close(root)
        return info

    def look(self) -> Moment:
        """The workspace now, compared but not kept."""
        root = self._open_if_there()
        try:
            self._refresh()
            scan = self._read(root, None, None)
        finally:
            if root is not None:
                os.close(root)
        tree = self._tree.copy()
        tree.apply(scan.delta)
        return Moment(tree, scan.uncovered)

    @contextmanager
    def reader(self) -> Iterator[Callable[[str, Entry], bytes]]:
        """Reads files of the workspace as they are now."""
        root = self._open_if_there()
        if root is None:
            yield _nothing_to_read
            return
        with Descent(root) as descent:

            def read(path: str, entry: Entry) -> bytes:
                folder, _, name = path.rpartition("/")
                fd = os.open(name, READ_FLAGS, dir_fd=descent.folder(folder))
                try:
                    return os.pread(fd, entry.size, 0)
                finally:
                    os.close(fd)

            try:
                yield read
            finally:
                os.close(root)

    def newest(self) -> Moment:
        """The tree of the newest checkpoint; not to be changed."""
        self._refresh()
        return Moment(self._tree, self._uncovered)

    def distrust(self) -> None:
        """Forget that hints were enough: the next checkpoint walks everything."""
        self._walked = False
        self._newest = None

    def open_root(self) -> int:
        try:
            return open_root(self._workspace)
        except OSError as error:
            raise InvalidState(
                f"the workspace cannot be opened: {error.strerror}",
                where=printable(self._workspace),
                todo="It must be a folder, not a link",
            ) from error

    def _open_if_there(self) -> int | None:
        """The workspace's folder; None where one that has checkpoints was deleted as a whole."""
        if not os.path.lexists(self._workspace) and self.history.head():
            return None
        return self.open_root()

    def _refresh(self) -> None:
        """Load the newest tree if another process, or a failure, made ours stale."""
        head = self.history.head()
        reread = self._store.get_meta("reread") is not None
        if head == self._seq and not reread:
            return
        self._tree = self.history.tree(head) if head and self._same_policy() else Tree()
        self._uncovered = self.history.uncovered(head) if head else {}
        self._seq, self._newest = head, None
        self._walked = False
        if reread:
            self._tree.distrust()

    def _same_policy(self) -> bool:
        """Whether the newest checkpoint was made with these exclusions; if not, everything is read anew."""
        return (self._store.get_meta("policy") or "") == "\n".join(self.policy.patterns)

    def _read(
        self, root: int | None, hints: Iterable[str] | None, writer: PackWriter | None, progress: Progress | None = None
    ) -> Scan:
        """What differs from the newest tree, with the contents; kept where there is a writer."""
        if root is None:
            return nothing_left(self._tree)
        scan = self._scan(root, hints)
        Intake(root, self._tree, scan, self._store, writer).run(self._budget, self._clock, progress)
        return scan

    def _scan(self, root: int, hints: Iterable[str] | None) -> Scan:
        scanner = Scanner(root, self._tree, self.policy, self._budget, self._clock)
        return scanner.glance(hints) if hints is not None and self._walked else scanner.walk()

    def _take_over(self, scan: Scan) -> None:
        self._tree.apply(scan.delta)
        if scan.folders is None:
            self._uncovered = scan.uncovered
        else:
            kept = {p: why for p, why in self._uncovered.items() if p.rpartition("/")[0] not in scan.folders}
            self._uncovered = kept | scan.uncovered

    def _newest_again(self, info: CheckpointInfo, scan: Scan) -> CheckpointInfo | None:
        """The run's newest checkpoint where the workspace still is as it was then: equal neighbours are one."""
        newest = self._newest
        if newest is None or info.label or info.run_id is None or "safety" in (info.cause, newest.cause):
            return None
        if newest.run_id != info.run_id or not self._tree.stays(scan.delta) or not self._same_uncovered(scan):
            return None
        self._take_over(scan)
        self._walked = self._walked or scan.folders is None
        return msgspec.structs.replace(
            newest,
            time=info.time,
            step=info.step,
            cause=info.cause,
            basis="walk" if scan.folders is None else "hints",
            success_rate=info.success_rate,
            last_error_time=info.last_error_time,
        )

    def _same_uncovered(self, scan: Scan) -> bool:
        if scan.folders is None:
            return scan.uncovered == self._uncovered
        return all(self._uncovered.get(path) == why for path, why in scan.uncovered.items()) and not any(
            path.rpartition("/")[0] in scan.folders and path not in scan.uncovered for path in self._uncovered
        )

    def _describe(self, info: CheckpointInfo, scan: Scan) -> CheckpointInfo:
        return msgspec.structs.replace(
            info,
            files=self._tree.files,
            bytes=self._tree.bytes,
            not_covered=describe_uncovered(self._uncovered),
            basis="walk" if scan.folders is None else "hints",
            parent=self._store.get_meta("current"),
        )


def describe_uncovered(uncovered: dict[str, str]) -> tuple[str, ...]:
    """What is not covered, for people: the first few by name, the rest counted."""
    lines = [f"{printable(path)}: {why}" for path, why in sorted(uncovered.items())[:SHOWN]]
    more = len(uncovered) - SHOWN
    return (*lines, f"and {more:,} more") if more > 0 else tuple(lines)


def _nothing_to_read(path: str, entry: Entry) -> bytes:
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
