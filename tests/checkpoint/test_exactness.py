"""Snapshot, change anything, restore: the workspace is what it was, by an independent look."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from interlock.checkpoint import Checkpoints, scan, snapshot
from interlock.config.schema import Checkpoints as Settings
from interlock.core import ManualClock

from .mutations import CONTENTS, MODES, PATHS, PICKS, TIMES, Hand
from .notifications import Queue
from .picture import picture, times_are_fine

CAREFUL = scan.FRESH_NS
MANY, PATROL = snapshot.MANY, snapshot.PATROL


class Workspace(RuleBasedStateMachine):
    """A workspace that is changed in every way, saved, restored, undone and collected."""

    saved = Bundle("saved")
    where: str | None = None

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="exact-", dir=self.where))
        self.root = self.folder / "work"
        self.root.mkdir()
        self.hand = Hand(self.root)
        self.pictures: dict[str, dict[bytes, tuple[object, ...]]] = {}
        self.reopen()

    def reopen(self) -> None:
        self.checkpoints = Checkpoints.open(self.root, self.folder / "store", config=Settings(), clock=ManualClock())

    @initialize(target=saved, trusting=st.booleans())
    def begin(self, trusting: bool) -> str:
        # Where the kernel gives every change a time of its own, fresh times can be trusted, and then are.
        scan.FRESH_NS = 0 if trusting and times_are_fine(self.folder) else CAREFUL
        return self.save()

    @rule(path=PATHS, content=CONTENTS, mode=MODES)
    def write(self, path: bytes, content: bytes, mode: int) -> None:
        self.hand.write(path, content, mode)

    @rule(pick=PICKS, content=CONTENTS)
    def edit(self, pick: int, content: bytes) -> None:
        self.hand.edit(self.hand.pick(pick), content)

    @rule(pick=PICKS)
    def edit_unseen(self, pick: int) -> None:
        self.hand.edit_unseen(self.hand.pick(pick))

    @rule(pick=PICKS, mode=MODES)
    def chmod(self, pick: int, mode: int) -> None:
        self.hand.chmod(self.hand.pick(pick), mode)

    @rule(pick=PICKS, time=TIMES)
    def touch(self, pick: int, time: int) -> None:
        self.hand.touch(self.hand.pick(pick), time)

    @rule(pick=PICKS, to=PATHS)
    def rename(self, pick: int, to: bytes) -> None:
        self.hand.rename(self.hand.pick(pick), to)

    @rule(pick=PICKS)
    def delete(self, pick: int) -> None:
        self.hand.delete(self.hand.pick(pick))

    @rule(pick=PICKS, content=CONTENTS)
    def folder_to_file(self, pick: int, content: bytes) -> None:
        self.hand.write(self.hand.pick(pick), content, 0o644)

    @rule(pick=PICKS, name=PATHS)
    def file_to_folder(self, pick: int, name: bytes) -> None:
        path = self.hand.pick(pick)
        self.hand.delete(path)
        self.hand.write(path + b"/" + name, b"inside", 0o640)

    @rule(pick=PICKS)
    def anything_to_link(self, pick: int) -> None:
        self.hand.link(self.hand.pick(pick), b"/nowhere-at-all")

    @rule(path=PATHS, mode=MODES)
    def make_folder(self, path: bytes, mode: int) -> None:
        self.hand.make_folder(path, mode)

    @rule(path=PATHS, to=st.sampled_from([b"a", b"..", b"/nowhere-at-all", b"nowhere", b"../../x", b"\xff"]))
    def link(self, path: bytes, to: bytes) -> None:
        self.hand.link(path, to)

    @rule(pick=PICKS, to=PATHS)
    def hard_link(self, pick: int, to: bytes) -> None:
        self.hand.hard_link(self.hand.pick(pick), to)

    @rule(path=PATHS, size=st.integers(5_000_000, 20_000_000), at=st.integers(0, 4_000_000))
    def sparse(self, path: bytes, size: int, at: int) -> None:
        self.hand.sparse(path, size, at)

    @rule(path=PATHS, seed=st.integers(0, 3))
    def big(self, path: bytes, seed: int) -> None:
        self.hand.big(path, seed)

    @rule(path=PATHS)
    def nested_git(self, path: bytes) -> None:
        self.hand.nested_git(path)

    @rule(target=saved)
    def save(self) -> str:
        made = self.checkpoints.create()
        self.pictures[made.id] = picture(self.root)
        return made.id

    @rule(wanted=saved)
    def restore(self, wanted: str) -> None:
        before = picture(self.root)
        done = self.checkpoints.restore(wanted)
        assert done.verified, done.wrong
        assert not done.left_alone
        assert picture(self.root) == self.pictures[wanted]
        self.pictures[done.safety_id] = before

    @rule(wanted=saved)
    def restore_and_undo_twice(self, wanted: str) -> None:
        before = picture(self.root)
        self.checkpoints.restore(wanted)
        for expected in (before, self.pictures[wanted]):
            done = self.checkpoints.undo()
            assert done.verified, done.wrong
            assert not done.left_alone
            assert picture(self.root) == expected

    @rule()
    def collect_and_reopen(self) -> None:
        self.checkpoints.gc()
        assert self.checkpoints.verify().problems == ()
        self.checkpoints.close()
        self.reopen()

    def teardown(self) -> None:
        scan.FRESH_NS = CAREFUL
        self.checkpoints.close()
        shutil.rmtree(self.folder)


class InMemory(Workspace):
    """The same on a file system that never waits for a disk."""

    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class Watched(InMemory):
    """The same with the kernel's notifications as hints: some are lost, late or merged, and the queue overflows."""

    def reopen(self) -> None:
        # Nothing is looked at without a hint: in a small workspace that would be nearly everything.
        snapshot.PATROL = 0
        self.checkpoints = Checkpoints.open(
            self.root, self.folder / "store", config=Settings(), clock=ManualClock(), watch=True
        )
        watch = self.checkpoints._snapshots._watch
        assert watch is not None
        self.queue = Queue()
        watch.read = self.queue.read

    @rule(trouble=st.sampled_from(["overflow", "late", "merge", "cut"]), at=st.integers(0, 20))
    def disturb(self, trouble: str, at: int) -> None:
        self.queue.trouble, self.queue.at = trouble, at

    @rule(limit=st.sampled_from([0, 1, 3, 1000]))
    def allow_watches(self, limit: int) -> None:
        watch = self.checkpoints._snapshots._watch
        assert watch is not None
        watch.limit = limit

    @rule(fine=st.booleans())
    def trust_times(self, fine: bool) -> None:
        watch = self.checkpoints._snapshots._watch
        assert watch is not None
        watch.fine_times = fine and times_are_fine(self.folder)

    @rule(target=Workspace.saved)
    def save(self) -> str:
        made = super().save()
        assert self.checkpoints.diff(made) == []
        snapshots = self.checkpoints._snapshots
        assert snapshots.scan_now().uncovered == snapshots.newest().uncovered
        return made

    def teardown(self) -> None:
        snapshot.PATROL = PATROL
        super().teardown()


class Listed(Watched):
    """The same where everything is listed by `find` before a restore and after it, as in a large workspace."""

    def reopen(self) -> None:
        snapshot.MANY = 0
        super().reopen()

    def teardown(self) -> None:
        snapshot.MANY = MANY
        super().teardown()


QUICK = settings(
    max_examples=50,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
    print_blob=True,
)


@pytest.mark.parametrize("kind", [InMemory, Watched, Listed])
def test_every_saved_moment_comes_back_exactly(kind: type[Workspace]) -> None:
    run_state_machine_as_test(kind, settings=QUICK)


@pytest.mark.torture
@pytest.mark.parametrize(("kind", "examples"), [(InMemory, 5000), (Watched, 5000), (Listed, 3000), (Workspace, 300)])
def test_every_saved_moment_comes_back_exactly_at_length(kind: type[Workspace], examples: int) -> None:
    run_state_machine_as_test(kind, settings=settings(QUICK, max_examples=examples, stateful_step_count=30))
