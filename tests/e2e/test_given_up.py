"""When no owner will stay alive, an agent that tells its steps goes on; it does not wait for answers that never come."""

from __future__ import annotations

import os
import signal
import sys

from .running import Place, finish, until

SCRIPT = """
import pathlib
from interlock.adapters.process.client import Steps
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
    folder, killed = place.folder, set[int]()
    while len(killed) < 6:
        until("there is an owner", lambda: (now := folder.owner()) is not None and now.pid not in (0, *killed))
        killed.add(folder.owner().pid)
        os.kill(folder.owner().pid, signal.SIGKILL)
    (place.workspace / "go").touch()
    status, out, err = finish(run)
    assert (status, out) == (0, b"nobody supervises this run right now\n")
    assert b"supervision was lost" in err
