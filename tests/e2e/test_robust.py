"""`interlock run` where things go wrong around it: signals that are not heeded, streams that are closed, deaths."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading

import pytest

from .running import Place, finish, owners, until

DEAF = "trap '' TERM HUP; touch ready; while :; do sleep 0.05; done"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_second_signal_ends_a_command_that_does_not_heed_the_first(place: Place, number: signal.Signals) -> None:
    run = place.start("sh", "-c", DEAF)
    place.wait_for("ready")
    run.send_signal(number)
    run.send_signal(number)
    until("the run has ended", lambda: run.poll() is not None or run.send_signal(number))
    assert finish(run)[0] == 130
    assert place.told()["reason"] == "USER_CANCELLED"
    assert place.processes() == []
    (row,) = place.store.runs()
    # A person may not have sent it.
    assert row.outcome == "terminated" and place.told()["message"] == "terminated"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_it_runs_without_standard_streams(place: Place, closed: str) -> None:
    words = place.command("sh", "-c", "touch made; exit 3")
    line = f'exec "$@" {closed}'
    done = subprocess.run(
        ["/bin/sh", "-c", line, "sh", *words], cwd=place.workspace, env=place.environment, timeout=150, check=False
    )
    assert done.returncode == 3
    assert (place.workspace / "made").exists()


def test_an_owner_that_is_killed_while_it_starts_is_replaced(place: Place) -> None:
    killed: list[int] = []
    over = threading.Event()

    def kill_first() -> None:
        while not killed and not over.is_set():
            for pid in owners(place):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    hunter = threading.Thread(target=kill_first)
    hunter.start()
    status, out, err = place.run("echo", "hello")
    over.set()
    hunter.join()
    assert killed
    assert (status, out) == (0, b"hello\n"), err


def test_a_run_that_a_limit_ended_is_listed_as_such(place: Place) -> None:
    script = "import interlock.adapters.steps.client as c; s = c.Steps(); [s.before('bash', {'command': f'echo {i}'}) for i in range(9)]"
    status, _, err = place.run(sys.executable, "-c", script, options=("--max-steps", "3"))
    assert status == 124, err
    assert b"limit" in place.interlock("ps", "--all")[1]
    (run,) = place.store.runs()
    assert (run.status, run.reason, run.shown) == ("done", "MAX_ITERATIONS", "limit")


def test_when_the_front_is_killed_the_owner_tidies_up_after_both(place: Place) -> None:
    run = place.start("sh", "-c", "touch ready; while [ ! -e go ]; do sleep 0.02; done")
    until("the owner knows the command", lambda: place.records("started") if place.store.runs() else False)
    run.kill()
    run.wait()
    assert place.interlock("pause", place.folder.run_id)[0] == 0, "it can still be steered"
    assert place.interlock("resume", place.folder.run_id)[0] == 0
    (place.workspace / "go").touch()
    until("the owner has ended", lambda: not owners(place))
    left = [path for path in (place.root / "run").rglob("*") if stat.S_ISSOCK(path.lstat().st_mode)]
    assert left == []
    assert place.store.runs()[0].status == "done"
