"""When no owner will stay alive, an agent that tells its steps goes on; it does not wait for answers that never come."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from interlock.adapters.command import unsupervised
from interlock.config import Config
from interlock.core import Limits, RunSpec
from interlock.journal import Store

from .running import Place, finish, until

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
    assert b"continues unsupervised" in kill_owners(place, run)
    assert place.interlock("prune", "--keep", "0")[1] == b"Nothing to remove.\n"
    (place.workspace / "go").touch()
    status, out, err = finish(run)
    assert (status, out) == (0, b"this run is not supervised right now\n")
    assert b"supervision was lost" in err


@pytest.mark.torture
def test_a_run_that_nobody_supervises_is_held_to_its_time(place: Place) -> None:
    run = place.start("sh", "-c", "touch first; exec sleep 600", options=("--max-minutes", "1"))
    place.wait_for("first")
    assert b"max_execution_time (60 s)" in kill_owners(place, run)
    status, _, err = finish(run)
    assert (status, place.processes()) == (124, [])
    assert b"max_execution_time of 60 s is reached" in err
    assert place.store.runs()[0].shown == "limit"


def test_a_run_that_fails_closed_is_ended_when_nobody_supervises_it(place_with: Callable[..., Place]) -> None:
    place = place_with({"runtime": {"fail": "closed"}})
    run = place.start("sh", "-c", "touch first; exec sleep 600")
    place.wait_for("first")
    said = kill_owners(place, run)
    status, _, err = finish(run)
    assert (status, place.processes()) == (4, [])
    assert b"runtime.fail is closed" in said + err


def test_a_run_that_nobody_supervises_can_be_cancelled_and_its_end_is_written_down(place: Place) -> None:
    run = place.start("sh", "-c", "touch first; exec sleep 600")
    place.wait_for("first")
    assert b"interlock cancel" in kill_owners(place, run)
    status, _, err = place.interlock("cancel", place.folder.run_id)
    assert status == 0, err
    status, _, err = finish(run)
    assert (status, place.processes()) == (130, []), err
    (row,) = place.store.runs()
    assert (row.status, place.told()["reason"]) == ("aborted", "USER_CANCELLED")


def test_the_time_of_a_run_that_nobody_supervises_is_up_only_when_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 1000.0
    monkeypatch.setattr(unsupervised.time, "monotonic", lambda: now)
    folder = Store(tmp_path).create(RunSpec(run_id="alone", argv=("agent",)))
    alone = unsupervised.UnsupervisedRun(Config(limits=Limits(max_execution_time=60)), folder, begun=now)
    alone.say("supervision was lost")
    assert "max_execution_time (60 s)" in capsys.readouterr().err
    assert alone.check() is None
    now += 59
    assert alone.check() is None and alone.check_at == now + 1
    now += 2
    assert alone.check() == (124, "the limit max_execution_time of 60 s is reached")


def kill_owners(place: Place, run: subprocess.Popen[bytes]) -> bytes:
    """Kill owner after owner until there will be no other; gives what is said about that."""
    assert run.stderr is not None
    folder, stream, said = place.folder, run.stderr.fileno(), b""

    def given_up() -> bool:
        nonlocal said
        if (owner := folder.owner()) is not None and owner.pid:
            with suppress(ProcessLookupError):
                os.kill(owner.pid, signal.SIGKILL)
        if select.select([stream], [], [], 0)[0]:
            said += os.read(stream, 65_536)
        return any(not line.startswith(b"interlock: guard:") for line in said.split(b"\n")[:-1])

    until("it is given up", given_up)
    return said
