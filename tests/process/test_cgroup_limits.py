"""Limits by cgroup v2 knobs, over plain files: not every machine has these controllers on v2."""

from __future__ import annotations

import os
import signal
import uuid
from pathlib import Path

import pytest

from interlock.core import Limits
from interlock.process import cgroup as groups
from interlock.process import cgroup_hierarchy
from interlock.process.cgroup_limits import CgroupLimits

from .trouble import Starter


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids\n")
    for knob in ("memory.max", "memory.swap.max", "pids.max", "cpu.max"):
        (tmp_path / knob).write_text("")
    (tmp_path / "memory.current").write_text(f"{100 * 2**20}\n")
    (tmp_path / "memory.stat").write_text(f"anon 1\nactive_file {30 * 2**20}\ninactive_file {20 * 2**20}\n")
    (tmp_path / "memory.events").write_text("low 0\nmax 9\noom 3\noom_kill 2\noom_group_kill 0\n")
    (tmp_path / "pids.events").write_text("max 1\n")
    (tmp_path / "cpu.stat").write_text("usage_usec 5\nnr_throttled 4\n")
    return tmp_path


def test_each_limit_is_written_to_its_knob(folder: Path) -> None:
    held = CgroupLimits(folder, {}).limit(Limits(max_memory_mb=64, max_processes=7, max_cpu_percent=150))
    assert all(h and h.by == "kernel" for h in held.values())
    assert (folder / "memory.max").read_text() == str(64 * 2**20)
    assert (folder / "memory.swap.max").read_text() == "0"
    assert (folder / "pids.max").read_text() == "7"
    assert (folder / "cpu.max").read_text() == "150000 100000"


def test_no_limit_is_written_as_max(folder: Path) -> None:
    assert set(CgroupLimits(folder, {}).limit(Limits()).values()) == {None}
    assert (folder / "memory.max").read_text() == "max"
    assert (folder / "pids.max").read_text() == "max"
    assert (folder / "cpu.max").read_text() == "max 100000"


def test_what_was_reached_is_said_in_words(folder: Path) -> None:
    events = CgroupLimits(folder, {}).events(Limits(max_memory_mb=64, max_processes=7, max_cpu_percent=50))
    assert [event.words for event in events] == [
        "the memory limit of 64 MB was reached: the kernel ended a process 2 times",
        "the limit of 7 processes was reached: the kernel refused a new one once",
        "the CPU limit of 50 % of a core was reached: the kernel throttled it 4 times",
    ]


def test_memory_in_use_leaves_out_the_page_cache(folder: Path) -> None:
    assert CgroupLimits(folder, {}).memory_bytes() == 50 * 2**20


def test_a_knob_that_cannot_be_written_is_not_held_by_the_kernel(folder: Path) -> None:
    (folder / "pids.max").unlink()
    assert CgroupLimits(folder, {}).limit(Limits(max_processes=7))["max_processes"] is None


def test_without_controllers_nothing_is_held_and_nothing_counted(tmp_path: Path) -> None:
    controllers = CgroupLimits(tmp_path, {})
    assert controllers.names == frozenset()
    assert set(controllers.limit(Limits(max_memory_mb=1)).values()) == {None}
    assert controllers.events(Limits(max_memory_mb=1)) == []
    assert controllers.memory_bytes() is None


def test_a_kernel_without_cgroup_kill_still_ends_everything(
    cgroup: str, start: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = groups.write_control
    monkeypatch.setattr(groups, "write_control", lambda file, text: file.name != "cgroup.kill" and write(file, text))
    tree, trouble = start("fork_chain", cgroup)
    trouble.hear()
    ended = tree.end(0)
    assert ended.left == ()
    assert ended.status in (0, -signal.SIGKILL)
    assert trouble.processes() == []


@pytest.mark.usefixtures("cgroup")
def test_folders_that_a_dead_owner_left_are_swept_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = cgroup_hierarchy.own_folder("cgroup2")
    assert own is not None
    # Not in our own folder itself: what other tests have just made there would go as well.
    place = own / f"sweep-{uuid.uuid4().hex}"
    left, made = place / "interlock-left", tmp_path / "made"
    place.mkdir()
    left.mkdir()
    made.touch()
    try:
        monkeypatch.setattr(cgroup_hierarchy.time, "time", lambda: left.stat().st_mtime + 1e6)
        cgroup_hierarchy.sweep(place, made)
        assert left.exists(), "the kernel's clock counts"
        later = left.stat().st_mtime + cgroup_hierarchy.STALE_S + 1
        os.utime(made, (later, later))
        cgroup_hierarchy.sweep(place, made)
        assert not left.exists()
    finally:
        cgroup_hierarchy.remove(place)
