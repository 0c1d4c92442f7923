"""What a call has done that never told its result is the run's own work, and goes back with it."""

from __future__ import annotations

import sys

from .running import Place, finish

SCRIPT = """
import pathlib, time
from interlock.adapters.process.client import Steps
steps = Steps()
steps.before("bash", {"command": "python build.py"})
pathlib.Path("made").write_text("by the first call")
steps.after("ok", exit_code=0)
steps.before("bash", {"command": "python clean.py"})
pathlib.Path("kept").unlink()
pathlib.Path("made").write_text("by the second call")
pathlib.Path("ready").touch()
time.sleep(600)
"""


def test_a_run_cancelled_in_the_middle_of_a_call_can_be_taken_back_whole(place: Place) -> None:
    (place.workspace / "kept").write_text("precious")
    run = place.start(sys.executable, "-c", SCRIPT)
    place.wait_for("ready")
    assert place.order("cancel").outcome == "success"
    assert finish(run)[0] == 130
    status, out, err = place.interlock("rollback", place.folder.run_id, "--yes")
    assert (status, err) == (0, b"")
    assert b"Left alone" not in out
    assert [path.name for path in place.workspace.iterdir()] == ["kept"]


def test_a_live_run_goes_back_with_what_its_unfinished_call_did(place: Place) -> None:
    (place.workspace / "kept").write_text("precious")
    run = place.start(sys.executable, "-c", SCRIPT)
    place.wait_for("ready")
    answer = place.order("rollback", {"to": place.records("checkpoint")[0]["id"]})
    assert answer.outcome == "success", answer
    assert "left alone" not in answer.message
    assert [path.name for path in place.workspace.iterdir()] == ["kept"]
    assert place.order("cancel").outcome == "success"
    assert finish(run)[0] == 130
