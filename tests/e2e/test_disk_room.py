"""A run that fills the disk of its workspace is paused while there is room, goes on when there is more, and is undone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ..waiting import until
from .running import Place, finish

FILL = "for i in $(seq 45); do head -c 1M /dev/urandom >> fill$((i % 2)); sleep 0.1; done; echo done > done"


@pytest.mark.parametrize("small_disk", ["64m"], indirect=True)
def test_a_run_that_fills_the_disk_is_paused_goes_on_when_there_is_room_and_is_rolled_back(
    small_disk: Path, place_with: Callable[..., Place], tmp_path: Path
) -> None:
    place = place_with(store=tmp_path / "runs")
    place.workspace = small_disk / "work"
    place.workspace.mkdir()
    (place.workspace / "mine").write_text("mine")
    ballast = small_disk / "somebody-elses"
    with ballast.open("wb") as file:
        file.write(os.urandom(20_000_000))
    run = place.start("sh", "-c", FILL)
    until("the run is paused", lambda: bool(place.store.runs()) and place.store.runs()[0].status == "paused")
    free = os.statvfs(small_disk)
    assert free.f_bavail * free.f_frsize > 1_000_000, "it is paused while there is room"
    assert not (place.workspace / "done").exists()
    ballast.unlink()
    until("it goes on to its end", (place.workspace / "done").exists)
    status, _, err = finish(run, b"")
    assert status == 0, err
    status, out, _ = place.interlock("rollback", place.folder.run_id, "--yes")
    assert status == 0, out
    assert [path.name for path in place.workspace.iterdir()] == ["mine"]


@pytest.mark.parametrize("small_disk", ["64m"], indirect=True)
def test_a_disk_that_was_nearly_full_before_does_not_pause_a_run(
    small_disk: Path, place_with: Callable[..., Place], tmp_path: Path
) -> None:
    place = place_with(store=tmp_path / "runs")
    place.workspace = small_disk / "work"
    place.workspace.mkdir()
    with (small_disk / "somebody-elses").open("wb") as file:
        file.write(bytes(62_000_000))
    status, _, err = place.run("sh", "-c", "head -c 1M /dev/urandom > some; sleep 1.5")
    assert status == 0, err
    assert not place.records("hold")
