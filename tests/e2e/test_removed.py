"""A run whose folder somebody removes or spoils while it runs: said once, and limits, cancel and Ctrl-C still hold."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time

import pytest

from .running import Place, finish, until

SAID = b"was removed during the run"

TELLING = """
import os, pathlib, time
from interlock.adapters.steps.client import Steps
steps = Steps()
for number in range(3):
    assert steps.before("bash", {"command": f"touch made{number}"})["action"] == "proceed"
    pathlib.Path(f"made{number}").touch()
    steps.after("ok", exit_code=0)
    while number == 0 and not os.path.exists("go"):
        time.sleep(0.01)
"""


ENDLESS = (
    TELLING.replace("range(3)", "itertools.count()")
    .replace("import os", "import itertools, os")
    .replace(
        'assert steps.before("bash", {"command": f"touch made{number}"})["action"] == "proceed"',
        'steps.before("bash", {"command": f"touch made{number}"})',
    )
)
"""The same, without an end, and whatever it is answered."""

LONG = pytest.mark.torture


def remove_folder(run: subprocess.Popen[bytes], place: Place) -> bytes:
    """Take the folder away under an owner that has the command, and wait until that is said on stderr."""
    until("the owner has the command", lambda: place.records("started"))
    shutil.rmtree(place.folder.path)
    assert run.stderr is not None
    line: bytes = run.stderr.readline()
    return run.stderr.readline() if line.startswith(b"interlock: guard:") else line


def test_it_is_said_once_and_the_run_goes_on_to_its_end(place: Place) -> None:
    run = place.start(sys.executable, "-c", TELLING)
    place.wait_for("made0")
    assert SAID in remove_folder(run, place)
    (place.workspace / "go").touch()
    status, _, err = finish(run)
    assert status == 0, err
    assert SAID not in err and b"the command ended with status 0" in err and b"its journal was deleted" in err
    assert b"6 steps" in err
    assert (place.workspace / "made2").exists()


@pytest.mark.parametrize(
    "limit",
    [pytest.param(("--max-steps", "2"), id="steps"), pytest.param(("--max-minutes", "1"), id="time", marks=LONG)],
)
def test_a_limit_still_ends_it_with_its_own_status(place: Place, limit: tuple[str, ...]) -> None:
    run = place.start(sys.executable, "-c", ENDLESS, options=limit)
    place.wait_for("made0")
    assert SAID in remove_folder(run, place)
    (place.workspace / "go").touch()
    status, _, err = finish(run)
    assert (status, place.told()["reason"]) == (124, "MAX_ITERATIONS"), err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_still_ends_it(place: Place, number: signal.Signals) -> None:
    run = place.start("sh", "-c", "trap '' INT TERM; touch ready; while :; do sleep 0.1; done")
    place.wait_for("ready")
    assert SAID in remove_folder(run, place)
    while run.poll() is None:
        # Two that nobody has taken yet become one.
        run.send_signal(number)
        time.sleep(0.2)
    assert finish(run)[0] == 130
    assert place.told()["reason"] == "USER_CANCELLED"


def test_a_cancel_ends_it_also_where_the_gate_file_cannot_be_written(place: Place) -> None:
    run = place.start("sh", "-c", "touch ready; exec sleep 600")
    place.wait_for("ready")
    until("the owner has the command", lambda: place.records("started"))
    place.folder.gate.unlink(missing_ok=True)
    place.folder.gate.mkdir()
    assert place.order("cancel").outcome == "success"
    assert finish(run)[0] == 130
