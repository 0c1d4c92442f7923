"""Paused means that no process of the run is scheduled, cancelled that none is left, whatever they were doing."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from interlock.contain import why_not
from interlock.journal.process_tree import read_tree
from interlock.process import attach

from .running import Place, until

STUCK = """
#include <unistd.h>
int main(void) { if (vfork() == 0) { pause(); _exit(0); } return 0; }
"""
"""Its parent waits for the child in the kernel, and takes no signal meanwhile (state D)."""

UNRULY = """
trap '' TERM INT HUP
(while :; do :; done) &
(while :; do (:); done) &
setsid sh -c 'trap "" TERM; while :; do echo >> ticks; done' &
./stuck &
touch ready
while :; do sleep 0.01; done
"""


@pytest.fixture
def stuck(place: Place) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    (place.workspace / "stuck.c").write_text(STUCK)
    subprocess.run(["gcc", "-o", "stuck", "stuck.c"], cwd=place.workspace, check=True)


@pytest.mark.usefixtures("stuck")
@pytest.mark.parametrize("level", ["off", "guard"])
def test_busy_forking_and_uninterruptible_processes_are_paused_and_cancelled_truthfully(
    place: Place, level: str
) -> None:
    if level == "guard" and why_not():
        pytest.skip(f"no guard here: {why_not()}")
    run = place.start("sh", "-c", UNRULY, options=("--contain", level, "--no-checkpoints"))
    place.wait_for("ready")
    place.wait_for("ticks")
    handle = read_tree(place.folder)
    assert handle is not None
    tree = attach(handle)
    until("one is stuck in the kernel", lambda: "D" in [state(pid) for pid in tree.pids()])
    for _ in range(3):
        status, out, err = place.interlock("pause", "--now", place.folder.run_id)
        assert status == 0 and b"is paused" in out + err, (out, err)
        before = scheduled(tree.pids())
        time.sleep(0.3)
        assert scheduled(tree.pids()) == before
        status, out, err = place.interlock("resume", place.folder.run_id)
        assert status == 0, (out, err)
        size = (place.workspace / "ticks").stat().st_size
        until("it works again", lambda size=size: (place.workspace / "ticks").stat().st_size > size)
    status, out, err = place.interlock("cancel", place.folder.run_id)
    left = tree.pids()
    assert status == 0 and b"is cancelled" in out + err, (out, err)
    assert left == ()
    run.communicate(timeout=60)


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def scheduled(pids: tuple[int, ...]) -> dict[int, tuple[str, ...]]:
    """How often each process has been switched off a processor, and what it has used."""
    found = {}
    for pid in pids:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        found[pid] = (*(line for line in lines if "ctxt_switches" in line), *fields[11:13])
    return found
