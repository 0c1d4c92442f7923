"""When no owner will stay alive, an agent that tells its steps goes on; it does not wait for answers that never come."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable

from .running import PATIENCE_S, Place, finish, until

SCRIPT = """
import pathlib
from interlock.adapters.steps.client import Steps
steps = Steps(patience_s=0.5)
steps.before("bash", {"command": "ls"})
pathlib.Path("first").touch()
steps.after("a", exit_code=0)
while not pathlib.Path("go").exists():
    steps.before("bash", {"command": "ls"})
    steps.after("a", exit_code=0)
print(steps.before("bash", {"command": "ls"})["reason"])
"""


def test_an_agent_whose_owners_all_die_goes_on_without_them(place: Place) -> None:
    run = place.start(sys.executable, "-c", SCRIPT)
    place.wait_for("first")
    kill_owners(place)
    assert b"continues unsupervised" in said_by(run)
    assert place.interlock("prune", "--keep", "0")[1] == b"Nothing to remove.\n"
    (place.workspace / "go").touch()
    status, out, err = finish(run)
    assert (status, out) == (0, b"this run is not supervised right now\n")
    assert b"supervision was lost" in err


def test_a_run_that_nobody_supervises_is_held_to_its_time(place: Place) -> None:
    run = place.start("sh", "-c", "touch first; exec sleep 600", options=("--max-minutes", "0.2"))
    place.wait_for("first")
    kill_owners(place)
    assert b"max_execution_time (12 s)" in said_by(run)
    status, _, err = finish(run)
    assert (status, place.processes()) == (124, [])
    assert b"max_execution_time of 12 s is reached" in err
    assert place.store.runs()[0].shown == "limit"


def test_a_run_that_fails_closed_is_ended_when_nobody_supervises_it(place_with: Callable[..., Place]) -> None:
    place = place_with({"runtime": {"fail": "closed"}})
    run = place.start("sh", "-c", "touch first; exec sleep 600")
    place.wait_for("first")
    kill_owners(place)
    status, _, err = finish(run)
    assert (status, place.processes()) == (4, [])
    assert b"runtime.fail is closed" in err


def test_a_run_that_nobody_supervises_can_be_cancelled_and_its_end_is_written_down(place: Place) -> None:
    run = place.start("sh", "-c", "touch first; exec sleep 600")
    place.wait_for("first")
    kill_owners(place)
    assert b"interlock cancel" in said_by(run)
    status, _, err = place.interlock("cancel", place.folder.run_id)
    assert status == 0, err
    status, _, err = finish(run)
    assert (status, place.processes()) == (130, []), err
    (row,) = place.store.runs()
    assert (row.status, place.told()["reason"]) == ("aborted", "USER_CANCELLED")


def kill_owners(place: Place) -> None:
    """Kill owner after owner until there will be no other."""
    folder, killed = place.folder, set[int]()
    while len(killed) < 6:
        until("there is an owner", lambda: (now := folder.owner()) is not None and now.pid not in (0, *killed))
        killed.add(folder.owner().pid)
        os.kill(folder.owner().pid, signal.SIGKILL)


def said_by(run: subprocess.Popen[bytes]) -> bytes:
    """The next line on stderr, while it runs."""
    assert run.stderr is not None
    assert select.select([run.stderr], [], [], PATIENCE_S)[0], "it says nothing"
    line: bytes = run.stderr.readline()
    return said_by(run) if line.startswith(b"interlock: guard:") else line
