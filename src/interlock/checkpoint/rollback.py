"""Rollback: plan, safety checkpoint, staging, applying, verification; finished or undone after a crash."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

from msgspec import Struct

from ..core import Clock, InvalidState, Unknown
from .change import Change, Difference, differences
from .folder_descent import Descent
from .plan import Draft, KnownTree, LeftAlone, OwnChanges, RestorePlan, draft
from .restore_record import Body, Restoration, advance, begin, lost_in_outage, make_body, unfinished
from .restore_steps import RestoreSteps, folders_to_finish
from .snapshot import Progress, Snapshots, describe_uncovered
from .staging import Contents, Staging, remove_folder
from .store import FULL_ERRORS, CheckpointStore, full
from .tree import Delta, WorkspaceTree, printable, within
from .verification import RestoreVerification


class Restored(Struct, frozen=True, omit_defaults=True):
    """What a restore did. `safety_id` is the checkpoint of the moment before; `wrong` is empty when verified."""

    checkpoint_id: str
    safety_id: str
    changed: tuple[Change, ...] = ()
    left_alone: tuple[LeftAlone, ...] = ()
    verified: bool = True
    wrong: tuple[LeftAlone, ...] = ()
    not_covered: tuple[str, ...] = ()


class Rollback:
    """Restores a workspace to a checkpoint."""

    def __init__(self, store: CheckpointStore, snapshots: Snapshots, clock: Clock) -> None:
        self._store, self._snapshots, self._clock = store, snapshots, clock

    def preview(
        self, target: str, now: KnownTree, then: KnownTree, paths: Iterable[str], own: OwnChanges | None
    ) -> RestorePlan:
        """What a restore would do; changes nothing."""
        made = draft(now, then, paths, own, force=False, gives_rights=True)
        return RestorePlan(
            target,
            tuple(step.to_change() for step in _in_order(made.steps)),
            _named(made.left),
            describe_uncovered(then.uncovered),
            tuple(printable(lock) for lock in made.locks),
        )

    def run(
        self,
        target: str,
        safety: str,
        then: KnownTree,
        paths: Iterable[str],
        own: OwnChanges | None,
        *,
        force: bool,
        progress: Progress | None,
        folders: Iterable[str] = (),
        undoes: bool = False,
    ) -> Restored:
        """Restore, after the safety checkpoint was made. `folders` get their times back too.

        `undoes`: it undoes another one, which remains the one to undo if everything is left alone.
        """
        if unfinished(self._store):
            raise InvalidState(
                "an earlier rollback was interrupted and cannot be completed yet", todo="Free some space"
            )
        now = self._snapshots.newest()
        scope = tuple(paths)
        made = draft(now, then, scope, own, force=force)
        if made.locks:
            raise InvalidState(
                f"a git command seems to be running: {printable(made.locks[0])} exists; nothing was changed",
                todo="Wait until it ends, remove the lock if it is stale, or use --force",
            )
        keep_times = not self._snapshots.policy.patterns
        finishing = folders_to_finish(made, now.tree, then.tree, scope or ("",), folders)
        body = make_body(os.urandom(6).hex(), made.steps, finishing, keep_times=keep_times, force=force)
        n = begin(self._store, target, safety, self._clock.time(), body)
        with self._snapshots.root() as root:
            try:
                applying = self._carry_out(n, root, body, now.tree, progress)
                wrong = self._verify(root, applying, now, keep_times=keep_times)
                done = self._as_done(body, applying)
                in_vain = undoes and not done.steps and bool(made.left)
                advance(self._store, n, "abandoned" if in_vain else "done", done)
            finally:
                self._snapshots.distrust()
        with self._store.transaction():
            self._store.set_meta("current", target)
        return Restored(
            target,
            safety,
            tuple(step.to_change() for step in _in_order({s.path: s for s in applying.done})),
            _named(made.left | applying.left),
            not wrong,
            _named(wrong),
            describe_uncovered(now.uncovered),
        )

    def recover(self) -> list[str]:
        """Finish what a crash interrupted: a restore that had begun to move files is completed, others are undone."""
        said = []
        for restoration in [*unfinished(self._store), *lost_in_outage(self._store)]:
            try:
                with self._snapshots.root() as root:
                    try:
                        said.append(self._recover_one(root, restoration))
                    finally:
                        self._snapshots.distrust()
            except (OSError, InvalidState) as error:
                said.append(f"a rollback to {restoration.target} was interrupted and cannot be completed yet: {error}")
        return said

    def _recover_one(self, root: int, restoration: Restoration) -> str:
        body = restoration.body
        if restoration.state == "staging":
            remove_folder(root, body.folder)
            self._finish_root_time(root, body)
            advance(self._store, restoration.n, "abandoned")
            return f"a rollback to {restoration.target} was interrupted before it changed anything"
        applying = self._apply(root, body, None)
        if restoration.state == "taking_back":
            advance(self._store, restoration.n, "taken_back")
            return f"a rollback to {restoration.target} failed and has been undone"
        advance(self._store, restoration.n, "done", self._as_done(body, applying))
        left = f"; left alone: {', '.join(printable(path) for path in applying.left)}" if applying.left else ""
        return f"a rollback to {restoration.target} was interrupted; it is now complete{left}"

    def _carry_out(
        self, n: int, root: int, body: Body, before: WorkspaceTree, progress: Progress | None
    ) -> RestoreSteps:
        try:
            self._stage(root, body, progress)
        except (OSError, InvalidState) as error:
            remove_folder(root, body.folder)
            self._finish_root_time(root, body)
            advance(self._store, n, "abandoned")
            if isinstance(error, OSError) and error.errno in FULL_ERRORS:
                raise full("the workspace") from error
            raise
        advance(self._store, n, "applying")
        try:
            return self._apply(root, body, progress)
        except (OSError, InvalidState) as error:
            self._revert(n, root, body, before, error)
            if isinstance(error, OSError) and error.errno in FULL_ERRORS:
                raise full("the workspace") from error
            raise

    def _stage(self, root: int, body: Body, progress: Progress | None = None) -> None:
        """Make every new file ready in the staging folder."""
        with Descent(root) as descent:
            staging = Staging(root, body.folder, Contents(self._store), keep_times=body.keep_times)
            try:
                RestoreSteps(root, body, staging, descent).stage(progress)
            finally:
                os.close(staging.fd)

    def _apply(self, root: int, body: Body, progress: Progress | None) -> RestoreSteps:
        with Descent(root) as descent:
            staging = Staging(root, body.folder, Contents(self._store), keep_times=body.keep_times)
            applying = RestoreSteps(root, body, staging, descent)
            try:
                applying.run(progress)
            except BaseException:
                os.close(staging.fd)
                raise
            staging.remove()
            applying.finish_folders()
        return applying

    def _revert(self, n: int, root: int, body: Body, before: WorkspaceTree, error: Exception) -> None:
        """Undo everything that a failing restore has moved so far."""
        now = self._snapshots.scan_now()
        touched = set(body.differences())
        steps = {d.path: d for d in differences(now.tree, before) if d.path in touched}
        folders = folders_to_finish(Draft(steps), now.tree, before, ("",))
        back = make_body(body.token, steps, folders, keep_times=True, force=False)
        advance(self._store, n, "taking_back", back)
        try:
            remove_folder(root, body.folder)
            self._stage(root, back)
            self._apply(root, back, None)
        except OSError as again:
            raise Unknown(
                f"the rollback failed ({error}) and could not be undone yet ({again})",
                todo="Free some space; it is repaired at the next start",
            ) from error
        advance(self._store, n, "taken_back")

    def _verify(self, root: int, applying: RestoreSteps, now: KnownTree, *, keep_times: bool) -> dict[str, str]:
        expected = now.tree.copy()
        expected.apply(_as_delta(applying.done))
        written = {step.path for step in applying.done}
        policy, listing = self._snapshots.policy, self._snapshots.listing
        check = RestoreVerification(expected, written, now.uncovered, policy, keep_times=keep_times, listing=listing)
        wrong = check.run(root)
        return {path: why for path, why in wrong.items() if not within(path, applying.left)}

    def _as_done(self, body: Body, applying: RestoreSteps) -> Body:
        """The record of what was actually done, which is what an undo undoes."""
        done = {step.path: step for step in applying.done}
        folders = {os.fsdecode(path): entry for path, entry in body.folders}
        return make_body(body.token, done, folders, keep_times=body.keep_times, force=body.force)

    def _finish_root_time(self, root: int, body: Body) -> None:
        """Restore the workspace's own time, which creating and removing the staging folder changed."""
        before = self._snapshots.newest().tree.root
        if before is not None and body.keep_times:
            with suppress(PermissionError):
                os.utime(root, ns=(before.mtime_ns, before.mtime_ns))


def _as_delta(steps: Iterable[Difference]) -> Delta:
    delta = Delta()
    for step in steps:
        if not step.path:
            delta.root = step.b
            continue
        folder, _, name = step.path.rpartition("/")
        delta.put(folder, name, step.b)
        if step.a is not None and step.a.is_folder and not (step.b is not None and step.b.is_folder):
            delta.wiped.add(step.path)
    for folder in [folder for folder in delta.changed if folder in delta.wiped]:
        del delta.changed[folder]
    return delta


def _in_order(steps: dict[str, Difference]) -> list[Difference]:
    return [steps[path] for path in sorted(steps)]


def _named(left: dict[str, str]) -> tuple[LeftAlone, ...]:
    return tuple(LeftAlone(printable(path), why) for path, why in sorted(left.items()))
