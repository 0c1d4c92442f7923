"""Checkpoints: exact, restorable snapshots of one workspace."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

import apsw
import msgspec

from ..config import Checkpoints as Settings
from ..core import CheckpointInfo, Clock, InvalidState, NotFound, from_json, read_small
from .audit import Audited, StoreAudit, drop_lost
from .change import Change, differences
from .change_watcher import FITTING, ChangeWatcher
from .comparison import Comparison, read_index
from .entry import state_of
from .large_files import LARGE
from .locations import (
    DEEPEST,
    DENIED,
    default_store,
    file_system_of,
    inside,
    refuse_missing,
    refuse_unfit,
    resolved,
    store_of,
)
from .lock import WAIT_S, Busy, Holder, WorkspaceLock, find_holder, find_overlap, in_use, operation
from .plan import SINCE, KnownTree, OwnChanges, RestorePlan
from .restore_record import Restoration, last_done, unfinished
from .rollback import Restored, Rollback
from .scan import without_gc
from .snapshot import Progress, Snapshots
from .staging import Contents, give_rights, remove_file, set_file, write_out
from .store import CheckpointStore, NoSpace
from .sweep import Sweep, Swept

Freeze = Callable[[], AbstractContextManager[object]]
"""Freezes the agent while the context is entered, and lets it continue whatever happens."""

AnyPath = str | os.PathLike[str]
Infos = list[CheckpointInfo]
Changes = list[Change]
Lines = list[str]
Texts = tuple[tuple[str, str | None, str | None], ...]

TIDY_EVERY = 16
"""Checkpoints between two checks whether something is due to be removed."""


class Checkpoints:
    """The checkpoints of one workspace. Thread-safe; several processes take turns."""

    def __init__(
        self, workspace: Path, store: CheckpointStore, settings: Settings, clock: Clock, run_id: str | None
    ) -> None:
        self.workspace, self.run_id = workspace, run_id
        self._store, self._settings, self._clock = store, settings, clock
        self._identity = _identity_of(store.path)
        self._snapshots = Snapshots(str(workspace), store, settings, clock)
        self._rollback = Rollback(store, self._snapshots, clock)
        self._comparison = Comparison(store, self._snapshots)
        self._history = self._snapshots.history
        self._mutex = threading.RLock()
        self._held = self._closed = False
        self._made = 0
        self._run_lock: WorkspaceLock | None = None
        self.freeze: Freeze = nullcontext
        self.recovered: list[str] = []

    @property
    def store_path(self) -> Path:
        """The folder that they are stored in."""
        return self._store.path

    @property
    def removed(self) -> bool:
        """Whether someone has removed or replaced the store since it was opened."""
        return _identity_of(self.store_path) != self._identity

    @classmethod
    def open(
        cls,
        workspace: Path,
        store: Path | None = None,
        *,
        config: Settings,
        clock: Clock,
        run_id: str | None = None,
        run_name: str = "",
        freeze: Freeze | None = None,
        watch: bool = False,
    ) -> Checkpoints:
        """Open a workspace's checkpoints, and finish what a crash left half done.

        `store` is the folder of all workspaces' checkpoints. With a `run_id` the workspace is locked for that run
        until `close`; a second run is refused, with the name of the first. `watch`: have the kernel report changes,
        if it can.
        """
        workspace = resolved(workspace)
        stores = resolved(store) if store is not None else default_store()
        refuse_unfit(workspace, stores)
        own = store_of(workspace, stores)
        refuse_missing(workspace, own)
        lock = None
        with _as_errors(own):
            opened = CheckpointStore(own, exclusive=run_id is None)
            try:
                if run_id is not None:
                    holder = Holder(os.getpid(), str(workspace), run_id, run_name[:80])
                    overlap = find_overlap(stores, workspace, own)
                    if overlap is not None:
                        raise in_use(overlap, str(workspace))
                    lock = WorkspaceLock(own, holder)
                found = cls(workspace, opened, config, clock, run_id)
                found._run_lock = lock
                found.freeze = freeze or nullcontext
                found.recover()
                if watch and file_system_of(workspace) in FITTING:
                    # Without a watcher, every checkpoint walks everything.
                    with suppress(OSError):
                        found._snapshots.watch(ChangeWatcher(own / "sentinel", workspace))
            except BaseException:
                opened.close()
                if lock is not None:
                    lock.release()
                raise
        return found

    def close(self) -> None:
        with self._mutex:
            self._closed = True
            self._snapshots.close()
            self._store.close()
            if self._run_lock is not None:
                self._run_lock.release()

    def __enter__(self) -> Checkpoints:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def create(
        self,
        label: str = "",
        step: int = 0,
        cause: str = "",
        *,
        walk: bool = False,
        own: bool = False,
        success_rate: float = 1.0,
        last_error_time: float | None = None,
        extra: bytes | None = None,
        progress: Progress | None = None,
    ) -> CheckpointInfo:
        """Save the workspace as it is now.

        In a watched workspace only what may have changed is checked; `walk` checks everything, as do the
        first checkpoint and the first after a restore. `own`: what changed since the previous checkpoint is the
        run's own work. `extra` is stored alongside it unchanged (conversation and context).
        """
        info = CheckpointInfo(
            id="",
            time=self._clock.time(),
            step=step,
            label=label,
            cause=cause,
            run_id=self.run_id,
            success_rate=success_rate,
            last_error_time=last_error_time,
        )
        with self._busy("take a checkpoint"), self.freeze():
            if unfinished(self._store):
                self.recovered += self._rollback.recover()
            try:
                made = self._snapshots.create(info, walk=walk, own=own, extra=extra, progress=progress)
            except NoSpace:
                if own:
                    self._note_unsaved()
                raise
        if self._snapshots.is_cold:
            threading.Thread(target=self._warm_up, name="checkpoint-warm-up", daemon=True).start()
        else:
            self._tidy()
        return made

    def settle(self, label: str = "", cause: str = "end", *, step: int = 0, own: bool = False) -> CheckpointInfo:
        """Check everything once more at the end of a run, and store the workspace's fingerprint."""
        with self._busy("take a checkpoint"):
            made = self.create(label, step, cause, walk=True, own=own)
            self._snapshots.note_fingerprint()
            return made

    def list(self) -> Infos:
        """All checkpoints, oldest first."""
        with self._reading():
            return self._history.infos()

    def get(self, wanted: str) -> CheckpointInfo:
        """One checkpoint by its id, short id, label or unique beginning; NotFound if none or several fit."""
        with self._reading():
            return self._history.info(self._history.find(wanted))

    def extra(self, wanted: str) -> bytes | None:
        """What was stored alongside a checkpoint."""
        with self._reading():
            row = self._store.row("SELECT data FROM extra WHERE id=?", self.get(wanted).id)
            return bytes(row[0]) if row else None

    def diff(self, a: str, b: str | None = None) -> Changes:
        """What changed from one checkpoint to another, or to the disk now."""
        with self._busy("compare"):
            return self._comparison.changes(a, b)

    def patch(self, a: str, b: str | None = None) -> str:
        """The same as a unified diff."""
        with self._busy("compare"):
            return self._comparison.patch(a, b)

    def texts(self, a: str, b: str, wanted: Callable[[str], bool]) -> Texts:
        """The wanted texts that differ between two checkpoints: path, before, after; None if there is none."""
        with self._busy("compare"):
            return tuple(self._comparison.texts(a, b, wanted))

    def extract(self, wanted: str, paths: Iterable[str], folder: Path) -> None:
        """Write paths of a checkpoint, with what is below them, into an empty folder, at the same places."""
        with self._busy("read"):
            write_out(self._snapshots.moment(self._history.find(wanted)).tree, paths, Contents(self._store), folder)

    def preview(
        self, wanted: str, paths: Iterable[AnyPath] = (), *, own_changes: OwnChanges | None = None
    ) -> RestorePlan:
        """What a restore would do."""
        with self._busy("compare"):
            then, now = self._comparison.moment(wanted), self._comparison.moment(None)
            scope = inside(paths, self.workspace)
            return self._rollback.preview(self.get(wanted).id, now, then, scope, own_changes)

    def restore(
        self,
        wanted: str,
        paths: Iterable[AnyPath] = (),
        *,
        own_changes: OwnChanges | None = None,
        force: bool = False,
        progress: Progress | None = None,
        cause: str = "rollback",
        folders: Iterable[str] = (),
    ) -> Restored:
        """Restore a checkpoint, all of it or only below some paths.

        With `own_changes` only what the run itself changed is restored; `force` restores everything, and ignores
        foreign locks. A safety checkpoint is made first; `undo` restores it. `folders` get their times back too.
        """
        scope = inside(paths, self.workspace)
        with self._busy("roll back"), self.freeze(), without_gc():
            self.refuse_other_run(force=force)
            self.recovered += self._rollback.recover()
            target = self.get(wanted)
            then = self._comparison.moment(target.id)
            self._ensure_workspace(then)
            safety = CheckpointInfo(
                id="",
                time=self._clock.time(),
                step=target.step,
                label=f"before {cause}",
                cause="safety",
                run_id=self.run_id,
            )
            saved = self._make_room(then, None if force else own_changes, lambda: self._make_readable(then, safety))
            return self._rollback.run(
                target.id, saved.id, then, scope, own_changes, force=force, progress=progress, folders=folders,
                undoes=cause == "undo",
            )  # fmt: skip

    def undo(self, *, force: bool = False, progress: Progress | None = None) -> Restored:
        """Undo the last restore; what was changed since is named and left alone. Undo again to redo."""
        with self._busy("undo"):
            last, done = self._last_restore()
            folders = [os.fsdecode(path) for path, _ in last.body.folders]
            return self.restore(
                last.safety, done.states, own_changes=done, force=force, progress=progress, cause="undo",
                folders=folders,
            )  # fmt: skip

    def preview_undo(self, *, force: bool = False) -> RestorePlan:
        """What an undo would do."""
        with self._busy("compare"):
            last, done = self._last_restore()
            now, then = self._comparison.moment(None), self._comparison.moment(last.safety)
            return self._rollback.preview(last.safety, now, then, done.states, None if force else done)

    def refuse_other_run(self, *, force: bool = False) -> None:
        """Raise InvalidState if another run works in the workspace."""
        holder = find_holder(self._store.path)
        if holder is not None and holder.run_id != self.run_id and not force:
            raise in_use(holder, str(self.workspace))

    def default_target(self, run_id: str | None = None) -> CheckpointInfo:
        """The target of a rollback without one: a run's start, else the newest checkpoint that differs."""
        with self._busy("compare"):
            if run_id is not None:
                return self._start_of(run_id)
            infos = self._history.infos()
            candidates = [info for info in reversed(infos) if info.cause != "safety"]
            for info in self._comparison.differing(candidates):
                return info
        what = "the workspace does not differ from its checkpoints" if infos else "there are no checkpoints"
        raise NotFound(f"{what}: nothing to roll back to", where=str(self.workspace))

    def _start_of(self, run_id: str) -> CheckpointInfo:
        """A run's first checkpoint; InvalidState if it is gone."""
        infos = [info for info in self._history.infos() if info.run_id == run_id]
        if not infos:
            raise NotFound("this run has no checkpoints: nothing to roll back to", where=str(self.workspace))
        first = self._history.first(run_id)
        if first is None or not infos[0].id.startswith(f"c{first}-"):
            raise InvalidState(
                "the checkpoint of this run's start was removed (checkpoints.keep_days or max_bytes)",
                where=str(self.workspace),
                todo=f"Choose a later one with --to; the oldest that is left: {infos[0].id}",
            )
        return infos[0]

    def own_changes(self, since: str, run_id: str | None = None) -> OwnChanges:
        """What a run changed itself after a checkpoint, from the checkpoints that were made with `own`."""
        with self._reading():
            states = self._history.own(self._history.find(since), run_id or self.run_id)
            states.update(from_json(self._store.get_meta(f"unsaved {run_id or self.run_id}") or "{}", dict[str, str]))
            return OwnChanges(states, same=self._comparison.is_same_index)

    def tracked(self) -> frozenset[str]:
        """The files that the workspace's git repository tracks; none without one."""
        try:
            entries = read_index(read_small(".git/index", 1 << 28, below=self.workspace))
        except OSError:
            return frozenset()
        return frozenset(os.fsdecode(name) for *_, name in entries or ())

    def gc(self, progress: Progress | None = None) -> Swept:
        """Remove checkpoints by age, count and size, and the contents that only they needed."""
        with self._busy("collect garbage"):
            return Sweep(self._store, self._history, self._settings, self._clock.time()).run_on_full_disk(progress)

    def verify(self, progress: Progress | None = None) -> Audited:
        """Read everything that is stored and report damage."""
        with self._busy("verify"):
            return StoreAudit(self._store, self._history).run(progress)

    def recover(self) -> Lines:
        """Finish or undo what a crash interrupted; returns what was done."""
        with suppress(Busy), self._busy("recover", wait_s=0.0):
            self.recovered += drop_lost(self._store, self._history)
            self.recovered += self._rollback.recover()
        return self.recovered

    def _warm_up(self) -> None:
        """In the background: prepare for hints. The next checkpoint reports a failure of this."""
        with suppress(InvalidState), self._busy("take a checkpoint"):
            if not self._closed:
                self._snapshots.warm_up()
                self._tidy()

    def _tidy(self) -> None:
        """Now and then, remove what is due; a failure of that does not fail the new checkpoint."""
        self._made += 1
        if self._made % TIDY_EVERY == 1:
            with suppress(InvalidState), self._busy("collect garbage"):
                self._store.keep_ballast()
                Sweep(self._store, self._history, self._settings, self._clock.time()).run_if_due()

    def _last_restore(self) -> tuple[Restoration, OwnChanges]:
        """The last restore, and the states that it left."""
        last = last_done(self._store)
        if last is None:
            raise NotFound("there is no rollback to undo", where=str(self.workspace))
        states = {path: state_of(step.b) for path, step in last.body.differences().items()}
        return last, OwnChanges(states, SINCE, self._comparison.is_same_index)

    def _note_unsaved(self) -> None:
        """Note what the run has changed although there is no room to save it, so that a rollback may remove it."""
        with suppress(InvalidState):
            self._store.drop_ballast()
            now, before = self._snapshots.scan_now(), self._snapshots.newest()
            states = {
                each.path: state_of(each.b) for each in differences(before.tree, now.tree) if each.path.isprintable()
            }
            self._store.set_meta(f"unsaved {self.run_id}", msgspec.json.encode(states).decode())

    def _make_readable(self, then: KnownTree, safety: CheckpointInfo) -> CheckpointInfo:
        """Save the workspace as it is. What the run has made unreadable gets its rights back first."""
        saved = self._snapshots.create(safety)
        for _ in range(DEEPEST):
            denied = [path for path, why in self._snapshots.newest().uncovered.items() if why == DENIED]
            with self._snapshots.root() as root:
                if not sum(give_rights(root, path, then.tree.get(path)) for path in denied):
                    break
            saved = self._snapshots.create(safety)
        return saved

    def _make_room(self, then: KnownTree, own: OwnChanges | None, save: Callable[[], CheckpointInfo]) -> CheckpointInfo:
        """Save the workspace as it is; if the disk is full, without the largest files that the run has made."""
        with suppress(NoSpace):
            return save()
        self._store.drop_ballast()
        now = self._snapshots.scan_now()
        new = [(entry.size, path) for path, entry in now.tree.below("") if then.tree.get(path) is None]
        with self._snapshots.root() as root:
            for size, path in sorted(new, reverse=True):
                if size < LARGE or not (own is None or own.covers(path, now.tree.get(path))):
                    continue
                remove_file(root, path)
                with suppress(NoSpace):
                    return save()
        return save()

    def _ensure_workspace(self, then: KnownTree) -> None:
        """Create a workspace again that was deleted as a whole: empty, with the owner and mode that it had."""
        if then.tree.root is None:
            return
        if os.path.lexists(self.workspace):
            found = self.workspace.lstat()
            if found.st_mode & 0o700 != 0o700 and found.st_uid == os.geteuid():
                self.workspace.chmod(stat.S_IMODE(then.tree.root.mode), follow_symlinks=False)
            return
        self.workspace.parent.mkdir(parents=True, exist_ok=True)
        self.workspace.mkdir(mode=0o700)
        with self._snapshots.root() as root:
            set_file(root, then.tree.root, keep_times=False)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._mutex, _as_errors(self._store.path):
            yield

    @contextmanager
    def _busy(self, what: str, wait_s: float = WAIT_S) -> Iterator[None]:
        with self._reading():
            if self._held:
                yield
                return
            with operation(self._store.path, what, wait_s):
                self._held = True
                try:
                    yield
                finally:
                    self._held = False


@contextmanager
def _as_errors(where: Path) -> Iterator[None]:
    """Turn errors of the system and of SQLite into InvalidState, for people."""
    try:
        yield
    except OSError as error:
        raise InvalidState(error.strerror or str(error), where=str(error.filename or where)) from error
    except apsw.Error as error:
        raise InvalidState(
            f"cannot use the checkpoint database: {error}",
            where=str(where),
            todo="If it is damaged, move that folder away; new checkpoints start afresh",
        ) from error


def _identity_of(store: Path) -> tuple[tuple[int, int], ...]:
    """A value that stays the same while it is the same store; empty if it is gone."""
    try:
        return tuple((info.st_dev, info.st_ino) for info in ((store / name).stat() for name in ("store.db", "packs")))
    except OSError:
        return ()
