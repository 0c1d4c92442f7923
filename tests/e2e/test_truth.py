"""Paused means that no process of the run is scheduled, cancelled that none is left, whatever they were doing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from interlock.contain import why_not
from interlock.journal.folder import read_tree
from interlock.process import ProcessTree, attach
from interlock.process.proc import name_of
from interlock.web.serve import make_app
from interlock.web.source import Source

from ..link.broker import Broker
from .running import PATIENCE_S, Place, finish, key_of, until

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
    for _ in range(2):
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
    run.communicate(timeout=150)


class HangingFiles:
    """A file system that does not answer before `answer`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        words = [sys.executable, str(Path(__file__).with_name("hanging_fs.py")), str(folder)]
        self._server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self._server.stdout is not None
        self.works = bool(self._server.stdout.readline())

    def answer(self) -> None:
        self._server.communicate()


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[HangingFiles]:
    if os.geteuid() != 0 or not Path("/dev/fuse").exists():
        pytest.skip("needs root and FUSE")
    (tmp_path / "hanging").mkdir()
    files = HangingFiles(tmp_path / "hanging")
    if not files.works:
        files.answer()
        pytest.skip("no file system may be mounted here")
    yield files
    files.answer()


WITHOUT_CGROUPS = """
for place in $(sed -n 's/^[0-9]* [0-9]* [0-9:]* [^ ]* \\([^ ]*\\) .* - cgroup2* .*/\\1/p' /proc/self/mountinfo); do
    mount -o remount,bind,ro $place
done
exec "$@"
"""
"""In a mount namespace of its own: no cgroup can be made."""

LONG = pytest.mark.torture


@pytest.mark.parametrize(
    ("level", "cgroups"),
    [
        pytest.param("guard", True, id="guard"),
        pytest.param("off", True, id="off", marks=LONG),
        pytest.param("guard", False, id="guard without cgroups", marks=LONG),
        pytest.param("off", False, id="off without cgroups", marks=LONG),
    ],
)
def test_a_process_that_waits_for_a_file_system_is_named_and_runs_no_more_once_it_answers(
    place: Place, hanging: HangingFiles, level: str, cgroups: bool
) -> None:
    tree, stuck = wait_in_kernel(place, hanging, level, cgroups)
    status, out, err = place.interlock("pause", "--now", place.folder.run_id)
    assert status == 0 and b"is paused" in out, err
    named = f"stopped before it runs again: cat ({stuck})"
    assert named.encode() in err
    assert [named in fault["why"] for fault in place.records("fault")] == [True]
    assert named in place.records("result")[-1]["payload"]["message"], "whoever asks over the hub is told as well"
    before = scheduled(tree.pids())
    time.sleep(0.3)
    assert scheduled(tree.pids()) == before
    hanging.answer()
    until("it has left the file system", lambda: state(stuck) != "D")
    time.sleep(0.3)
    assert stuck in tree.pids() and not (place.workspace / "answered").exists()
    assert place.interlock("resume", place.folder.run_id)[0] == 0
    place.wait_for("answered")
    status, out, err = place.interlock("cancel", place.folder.run_id)
    assert status == 0 and b"is cancelled" in out, err
    assert tree.pids() == ()


@pytest.mark.torture
@pytest.mark.parametrize("cgroups", [True, False], ids=["with cgroups", "without"])
@pytest.mark.parametrize("level", ["guard", "off"])
def test_cancel_names_what_cannot_be_ended(place: Place, hanging: HangingFiles, level: str, cgroups: bool) -> None:
    tree, stuck = wait_in_kernel(place, hanging, level, cgroups)
    status, out, err = place.interlock("cancel", place.folder.run_id)
    assert status == 4 and b"is cancelled" not in out, out
    assert f"could not be ended: cat ({stuck})".encode() in err
    named = {"part": "processes", "why": f"could not be ended: cat ({stuck})", "dropped": False}
    until("the journal names it, once its owner has given up", lambda: place.records("fault") == [named])
    assert tree.pids() == (stuck,), "everything else has ended"
    hanging.answer()
    until("nothing is left", lambda: tree.pids() == ())


def test_whoever_looks_or_asks_from_elsewhere_is_told_what_a_pause_and_a_cancel_do_not_reach(
    place: Place, hanging: HangingFiles, tmp_path: Path
) -> None:
    """Over the hub, in lists, on the run's page and in the dashboard."""
    level = "off" if why_not() else "guard"
    (tmp_path / "other").mkdir()
    other = Place(tmp_path / "other")
    with Broker(tmp_path / "hub") as broker:
        _, stuck = wait_in_kernel(place, hanging, level, True, "--hub", broker.url)
        meet(place, other)
        run = place.folder.run_id
        until("it is listed", lambda: run.encode() in other.interlock("ps", "--hub", broker.url, "--json")[1])
        status, out, err = other.interlock("pause", "--now", "--hub", broker.url, run)
        paused = f"stopped before it runs again: cat ({stuck})"
        assert status == 0 and b"is paused" in out and paused.encode() in err, (out, err)
        assert [paused in said for said in told(place)] == [True] * 4, told(place)
        assert place.interlock("resume", run)[0] == 0
        # The page and the timeline keep what was; lists say what is.
        assert [paused in said for said in told(place)] == [False, True, False, True], told(place)
        status, out, err = other.interlock("cancel", "--hub", broker.url, run)
        left = f"could not be ended: cat ({stuck})"
        assert status == 4 and b"is cancelled" not in out and left.encode() in err, (out, err)
        assert [left in said for said in told(place)] == [True] * 4, told(place)
        hanging.answer()


def told(place: Place) -> list[str]:
    """What `ps`, `show` and the dashboard (its list, a run's page) say of the newest run."""
    run = place.folder.run_id
    said = [place.interlock(*words)[1].decode() for words in (("ps", "-a", "--json"), ("show", run))]
    with TestClient(
        make_app(Source(place.store), "t" * 43),
        base_url="http://127.0.0.1",
        headers={"authorization": "Bearer " + "t" * 43},
    ) as page:
        said += [page.get(address).text for address in ("/api/runs", f"/api/runs/{run}")]
    return said


def meet(place: Place, other: Place) -> None:
    """Two machines get to know each other's keys."""
    theirs, ours = (key_of(each) for each in (other, place))
    assert other.interlock("hub", "keys", "add", ours, "--role", "owner", "--name", "here")[0] == 0
    assert place.interlock("hub", "keys", "add", theirs, "--role", "controller", "--name", "there")[0] == 0


def wait_in_kernel(
    place: Place, hanging: HangingFiles, level: str, cgroups: bool, *options: str
) -> tuple[ProcessTree, int]:
    """A run with a process that waits for a file that is never found."""
    if level == "guard" and why_not():
        pytest.skip(f"no guard here: {why_not()}")
    script = f"(cat {hanging.folder}/x; touch answered) & while :; do sleep 0.05; done"
    words = place.command("sh", "-c", script, options=("--contain", level, "--no-checkpoints", *options))
    place.begin(words if cgroups else ["unshare", "-m", "sh", "-c", WITHOUT_CGROUPS, "sh", *words])
    until("the tree is known", lambda: place.store.runs() and read_tree(place.folder))
    handle = read_tree(place.folder)
    assert handle is not None and (cgroups or handle.group is None)
    tree = attach(handle)

    def stuck() -> list[int]:
        waiting = "request_wait_answer"
        return [
            pid for pid in tree.pids() if name_of(pid) == "cat" and Path(f"/proc/{pid}/wchan").read_text() == waiting
        ]

    until("it waits in the kernel", stuck)
    return tree, stuck()[0]


IN_A_CALL = """
import os, pathlib, time
from interlock.adapters.steps.client import Steps
steps = Steps()
steps.before("bash", {"command": "make"})
pathlib.Path("ready").touch()
while not pathlib.Path("go").exists(): time.sleep(0.02)
"""


@pytest.mark.parametrize("then", ["resumed", "ended"])
def test_a_pause_that_never_took_effect_is_not_called_one(place: Place, then: str) -> None:
    run = place.start(sys.executable, "-c", IN_A_CALL, options=("--name", "busy"))
    place.wait_for("ready")
    pausing = place.begin_pause()
    if then == "resumed":
        assert place.order("resume").outcome == "success"
    else:
        (place.workspace / "go").touch()
    out, err = pausing.communicate(timeout=PATIENCE_S)
    said = (pausing.returncode, out, err.splitlines()[-1])
    if then == "resumed":
        assert said == (4, b"", b"interlock: busy: the run was resumed meanwhile and is not paused")
        assert place.store.runs()[0].status == "running"
        (place.workspace / "go").touch()
    else:
        assert said == (3, b"", b"interlock: busy: the run has ended")
    assert finish(run)[0] == 0


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
