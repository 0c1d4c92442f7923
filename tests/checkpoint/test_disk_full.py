"""A full disk: one clear error, nothing lost, the agent goes on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from interlock.checkpoint import Checkpoints
from interlock.config.schema import Checkpoints as Settings
from interlock.core import InvalidState, ManualClock

from .picture import picture

Mount = Callable[..., Path]


class Freezer:
    """Counts how often the agent was held and let go."""

    held = thawed = 0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        self.held += 1
        try:
            yield
        finally:
            self.thawed += 1


def fill(disk: Path, leave: int = 0) -> Path:
    """Write until nothing fits."""
    path = disk / "filler"
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            file.truncate(max(0, file.tell() - leave))
    return path


def test_a_full_store_is_one_clear_error_and_loses_nothing(tmp_path: Path, small_disk: Mount) -> None:
    work, disk = tmp_path / "work", tmp_path / "disk"
    work.mkdir()
    disk.mkdir()
    small_disk(disk)
    freezer = Freezer()
    with closing(
        Checkpoints.open(work, disk / "store", config=Settings(), clock=ManualClock(), freeze=freezer)
    ) as checkpoints:
        (work / "file").write_text("one")
        saved = checkpoints.create()
        before = picture(work)
        for size in (20_000_000, 3_900_000 * 3):
            (work / "large").write_bytes(os.urandom(size))
            for number in range(60):
                (work / f"small{number}").write_bytes(os.urandom(200_000))
            with pytest.raises(InvalidState, match=r"no space left, nothing was changed\. Free some space"):
                checkpoints.create()
        assert freezer.held == freezer.thawed == 3
        assert [info.id for info in checkpoints.list()] == [saved.id]
        for path in list(work.iterdir()):
            path.unlink()
        (work / "file").write_text("two")
        assert checkpoints.restore(saved.id).verified
        assert picture(work) == before
        assert checkpoints.verify().problems == ()


def test_a_store_on_a_disk_that_someone_else_filled_can_be_collected(tmp_path: Path, small_disk: Mount) -> None:
    work, disk = tmp_path / "work", tmp_path / "disk"
    work.mkdir()
    disk.mkdir()
    small_disk(disk)
    clock = ManualClock()
    with closing(Checkpoints.open(work, disk / "store", config=Settings(), clock=clock)) as checkpoints:
        for _ in range(4):
            (work / "file").write_bytes(os.urandom(500_000))
            checkpoints.create()
        fill(disk)
        with pytest.raises(InvalidState, match="no space left"):
            checkpoints.create()
        clock.advance(365 * 86_400)
        assert len(checkpoints.gc().removed) == 3
        assert checkpoints.create().files == 1


def test_a_store_on_a_disk_full_to_the_brim_is_opened_listed_checked_and_collected(
    tmp_path: Path, small_disk: Mount
) -> None:
    work, disk = tmp_path / "work", tmp_path / "disk"
    work.mkdir()
    disk.mkdir()
    small_disk(disk, "3m")
    clock = ManualClock()

    def opened(keep_count: int = 1000) -> closing[Checkpoints]:
        settings = Settings(keep_count=keep_count)
        return closing(Checkpoints.open(work, disk / "store", config=settings, clock=clock))

    for _ in range(4):
        (work / "file").write_bytes(os.urandom(300_000))
        with opened() as checkpoints:
            newest = checkpoints.create()
    before = picture(work)
    fill(disk)
    with opened() as checkpoints:
        assert len(checkpoints.list()) == 4
        assert checkpoints.verify().problems == ()
        assert checkpoints.gc().removed == ()
    with opened(keep_count=1) as checkpoints:
        swept = checkpoints.gc()
        assert len(swept.removed) == 3
        assert swept.bytes_before - swept.bytes_after > 800_000
        (work / "file").unlink()
        assert checkpoints.restore(newest.id).verified
    assert picture(work) == before


def test_a_collection_frees_packs_that_it_has_no_room_to_write_anew(tmp_path: Path, small_disk: Mount) -> None:
    """What stays lies scattered among what goes, and is larger than what is free."""
    work, disk = tmp_path / "work", tmp_path / "disk"
    work.mkdir()
    disk.mkdir()
    small_disk(disk, "8m")
    with closing(Checkpoints.open(work, disk / "store", config=Settings(), clock=ManualClock())) as checkpoints:
        with pytest.raises(InvalidState, match="no space left"):
            for number in range(60):
                (work / "goes").write_bytes(os.urandom(150_000))
                (work / f"stays{number}").write_bytes(os.urandom(40_000))
                checkpoints.create()
        (work / f"stays{number}").unlink()
    fill(disk)
    settings = Settings(keep_count=1)
    with closing(Checkpoints.open(work, disk / "store", config=settings, clock=ManualClock())) as checkpoints:
        swept = checkpoints.gc()
        assert swept.kept == 1
        assert swept.bytes_before - swept.bytes_after > 4_000_000
        assert checkpoints.verify().problems == ()
        kept = checkpoints.list()[-1]
        before = {path.name: path.read_bytes() for path in work.iterdir() if path.name != "goes"}
        for path in work.iterdir():
            path.unlink()
        checkpoints.restore(kept.id)
        assert {path.name: path.read_bytes() for path in work.iterdir() if path.name != "goes"} == before


def test_a_collection_that_finds_no_room_at_all_does_not_advise_itself(tmp_path: Path, small_disk: Mount) -> None:
    work, disk = tmp_path / "work", tmp_path / "disk"
    work.mkdir()
    disk.mkdir()
    small_disk(disk, "3m")
    settings = Settings(keep_count=1)
    with closing(Checkpoints.open(work, disk / "store", config=settings, clock=ManualClock())) as checkpoints:
        checkpoints.create()
        checkpoints.create()
    next(disk.rglob("ballast")).unlink()
    fill(disk)
    with closing(Checkpoints.open(work, disk / "store", config=settings, clock=ManualClock())) as checkpoints:
        with pytest.raises(InvalidState, match=r"not even to collect garbage\. Free some space on that disk first$"):
            checkpoints.gc()
        assert len(checkpoints.list()) == 2
        (disk / "filler").unlink()
        assert len(checkpoints.gc().removed) == 1


def test_a_restore_that_runs_out_of_room_half_way_is_taken_back(tmp_path: Path, small_disk: Mount) -> None:
    """Files are made ready first; only folders can still fail, here for want of inodes."""
    work = tmp_path / "work"
    work.mkdir()
    small_disk(work, "8m,nr_inodes=60")
    with closing(Checkpoints.open(work, tmp_path / "store", config=Settings(), clock=ManualClock())) as checkpoints:
        for number in range(30):
            (work / f"folder{number}").mkdir()
        (work / "file").write_text("one")
        saved = checkpoints.create()
        for number in range(30):
            (work / f"folder{number}").rmdir()
        (work / "file").write_text("two")
        for number in range(40):
            (work / f"filler{number}").touch()
        before = picture(work)
        kept = [f"folder{number}" for number in range(30)]
        with pytest.raises(InvalidState, match="no space left, nothing was changed"):
            checkpoints.restore(saved.id, [*kept, "file"])
        assert picture(work) == before
        for number in range(40):
            (work / f"filler{number}").unlink()
        assert checkpoints.restore(saved.id).verified


def test_a_workspace_without_room_for_the_restore_stays_as_it_is(tmp_path: Path, small_disk: Mount) -> None:
    work = tmp_path / "work"
    work.mkdir()
    small_disk(work)
    freezer = Freezer()
    with closing(
        Checkpoints.open(work, tmp_path / "store", config=Settings(), clock=ManualClock(), freeze=freezer)
    ) as checkpoints:
        for number in range(10):
            (work / f"f{number}").write_bytes(os.urandom(500_000))
        saved = checkpoints.create()
        for number in range(10):
            (work / f"f{number}").write_text("small now")
        fill(work, leave=1_000_000)
        before = picture(work)
        with pytest.raises(InvalidState, match="no space left, nothing was changed"):
            checkpoints.restore(saved.id)
        assert picture(work) == before
        assert freezer.held == freezer.thawed
        (work / "filler").unlink()
        assert checkpoints.restore(saved.id).verified
        assert (work / "f3").stat().st_size == 500_000
