"""Killed at any point of a snapshot, a restore or a collection: the store opens, every finished checkpoint
restores exactly, and the workspace is as before or as after."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from interlock.checkpoint import Checkpoints
from interlock.config.schema import Checkpoints as Settings
from interlock.core import ManualClock

from .crash import count_points, run_and_kill
from .picture import Seen, picture

SHORT, LONG = 20, 667
"""Points per operation: 60 and 2,000 in all."""


class Scene:
    """A workspace with three checkpoints, put up anew for every kill."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.work, self.store = folder, folder / "work", folder / "store"
        self.work.mkdir()
        self.pictures: dict[str, dict[bytes, Seen]] = {}
        self._build()
        subprocess.run(["cp", "-a", self.work, folder / "work.kept"], check=True)
        subprocess.run(["cp", "-a", self.store, folder / "store.kept"], check=True)
        self.before = picture(self.work)

    def put_up(self) -> None:
        """Back to the beginning, with the same inodes' times."""
        for name in ("work", "store"):
            shutil.rmtree(self.folder / name)
            subprocess.run(["cp", "-a", self.folder / f"{name}.kept", self.folder / name], check=True)

    def open(self, keep_count: int = 1000) -> Checkpoints:
        return Checkpoints.open(self.work, self.store, config=Settings(keep_count=keep_count), clock=ManualClock())

    def _build(self) -> None:
        draw = random.Random(5)
        for number in range(30):
            path = self.work / f"d{number % 4}" / f"f{number}"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(draw.randbytes(draw.randrange(20_000)))
        (self.work / "large").write_bytes(draw.randbytes(5_000_000))
        (self.work / "link").symlink_to("d0")
        with self.open() as checkpoints:
            self._keep(checkpoints)
            shutil.rmtree(self.work / "d1")
            (self.work / "d1").write_text("a file now")
            for number in range(0, 30, 4):
                (self.work / "d0" / f"f{number}").write_bytes(draw.randbytes(30_000))
            self._keep(checkpoints)
            (self.work / "large").unlink()
            (self.work / "link").unlink()
            (self.work / "link").mkdir()
            (self.work / "link" / "inside").write_text("x")
            (self.work / "d2" / "f2").chmod(0o600)
            self._keep(checkpoints)
            (self.work / "d3" / "new").write_bytes(draw.randbytes(9000))
            (self.work / "empty").mkdir()

    def _keep(self, checkpoints: Checkpoints) -> None:
        self.pictures[checkpoints.create().id] = picture(self.work)

    def check(self, allowed: list[dict[bytes, Seen]], *, forgotten: bool, draw: random.Random) -> None:
        """Open after a kill and look at everything that was promised."""
        with self.open() as checkpoints:
            assert picture(self.work) in allowed
            audited = checkpoints.verify()
            assert audited.problems == ()
            names = [info.id for info in checkpoints.list()]
            assert forgotten or set(self.pictures) <= set(names)
            wanted = draw.choice([name for name in names if name in self.pictures])
            done = checkpoints.restore(wanted)
            assert done.verified, done.wrong
            assert picture(self.work) == self.pictures[wanted]


@pytest.fixture
def scene() -> Iterator[Scene]:
    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="crash-", dir=where))
    yield Scene(folder)
    shutil.rmtree(folder)


def kill_all_over(scene: Scene, act: Callable[[], object], check: Callable[[random.Random], None], points: int) -> None:
    draw = random.Random(20)
    scene.put_up()
    total = count_points(act)
    opening = count_points(scene.open)
    killed = 0
    for at in sorted(draw.randrange(1, total + 1) for _ in range(points)):
        scene.put_up()
        killed += run_and_kill(act, at)
        # The next start puts things right, and may be killed as well.
        run_and_kill(scene.open, draw.randrange(1, 3 * opening))
        check(draw)
    assert killed > points * 0.9


def snapshot(scene: Scene, points: int) -> None:
    def act() -> None:
        scene.open().create("killed")

    kill_all_over(scene, act, lambda draw: scene.check([scene.before], forgotten=False, draw=draw), points)


def restore(scene: Scene, points: int) -> None:
    wanted = next(iter(scene.pictures))

    def act() -> None:
        scene.open().restore(wanted)

    allowed = [scene.before, scene.pictures[wanted]]
    kill_all_over(scene, act, lambda draw: scene.check(allowed, forgotten=False, draw=draw), points)


def collect(scene: Scene, points: int) -> None:
    def act() -> None:
        scene.open(keep_count=1).gc()

    kill_all_over(scene, act, lambda draw: scene.check([scene.before], forgotten=True, draw=draw), points)


OPERATIONS = pytest.mark.parametrize("operation", [snapshot, restore, collect])


@OPERATIONS
def test_a_kill_at_any_point_leaves_everything_whole(operation: Callable[[Scene, int], None], scene: Scene) -> None:
    operation(scene, SHORT)


@pytest.mark.torture
@OPERATIONS
def test_a_kill_at_any_point_leaves_everything_whole_at_length(
    operation: Callable[[Scene, int], None], scene: Scene
) -> None:
    operation(scene, LONG)
