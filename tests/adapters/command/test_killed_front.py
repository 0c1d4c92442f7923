"""A front that is killed as its command begins: a command that runs has an owner, and one that does not is not done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.calling import interlock

KILLED = """
import os
from interlock.adapters.command.{module} import {owner}
{owner}.{method} = lambda *given: os.kill(os.getpid(), 9)
from interlock.__main__ import main
main()
"""


def run_killed(home: Path, contain: str, module: str, owner: str, method: str) -> None:
    """A run whose front is killed where it calls this method; its command waits for the file `go`."""
    words = ["run", "--no-checkpoints", "--contain", contain, "--"]
    command = ["sh", "-c", "echo > ran; while [ ! -e go ]; do sleep 0.05; done"]
    places = {"XDG_STATE_HOME": str(home / "state"), "XDG_CONFIG_HOME": str(home / "config")}
    done = subprocess.run(
        [sys.executable, "-c", KILLED.format(module=module, owner=owner, method=method), *words, *command],
        cwd=home,
        env={**os.environ, **places},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert done.returncode == -9


def status_of(home: Path) -> str:
    """Why it ended; its status while it has not."""
    (run,) = json.loads(interlock("ps", "--all", "--json", home=home).stdout)["runs"]
    return str(run["reason"] or run["status"])


def wait_until_ended(home: Path) -> str:
    while (status := status_of(home)) == "running":
        time.sleep(0.05)
    return status


@pytest.mark.parametrize("contain", ["off", "auto"])
def test_a_command_that_its_front_did_not_live_to_report_is_supervised_to_its_end(tmp_path: Path, contain: str) -> None:
    run_killed(tmp_path, contain, "command_output", "CommandOutput", "started")
    try:
        while not (tmp_path / "ran").exists():
            time.sleep(0.05)
        run_id = next((tmp_path / "state").rglob("tree.json")).parent.name
        told = interlock("cancel", run_id, home=tmp_path)
        assert told.returncode == 0, told.stderr
        assert wait_until_ended(tmp_path) == "USER_CANCELLED"
    finally:
        (tmp_path / "go").touch()


@pytest.mark.parametrize("contain", ["off", "auto"])
def test_a_command_that_never_began_is_not_done(tmp_path: Path, contain: str) -> None:
    run_killed(tmp_path, contain, "front", "_Front", "_start_command")
    assert wait_until_ended(tmp_path) == "ERROR"
    assert not (tmp_path / "ran").exists()
