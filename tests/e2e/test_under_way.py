"""What a run did without a last word is its own work, and goes back with it: an unfinished call, a deleted workspace.

What nobody knows to be its work is named and left alone.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from .running import PATIENCE_S, Place, finish, until

SCRIPT = """
import pathlib, time
from interlock.adapters.steps.client import Steps
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
    until("the checkpoint is recorded", lambda: place.records("checkpoint"))
    answer = place.order("rollback", {"to": place.records("checkpoint")[0]["id"]})
    assert answer.outcome == "success", answer
    assert "left alone" not in answer.message
    assert [path.name for path in place.workspace.iterdir()] == ["kept"]
    assert place.order("cancel").outcome == "success"
    assert finish(run)[0] == 130


DELETING = """
import os, shutil
from interlock.adapters.steps.client import Steps
steps = Steps()
steps.before("bash", {"command": "python clean.py"})
shutil.rmtree(os.getcwd())
steps.after("ok", exit_code=0)
"""


@pytest.mark.parametrize(
    "argv", [("sh", "-c", 'rm -rf "$PWD"'), (sys.executable, "-c", DELETING)], ids=["silent", "told"]
)
def test_a_run_that_deleted_its_workspace_is_taken_back_by_who_still_stands_in_it(
    place: Place, argv: tuple[str, ...]
) -> None:
    (place.workspace / "kept").write_text("precious")
    place.workspace.chmod(0o750)
    assert place.run(*argv)[0] == 0
    assert not place.workspace.exists()
    words = f'mkdir "$0" && cd "$0" && export PWD && rmdir "$0" && exec {sys.executable} -m interlock rollback {place.folder.run_id} --yes'
    done = subprocess.run(
        ["sh", "-c", words, str(place.workspace)],
        env={**place.environment, "INTERLOCK_STORE__DIR": str(place.store.root), "PYTHONSAFEPATH": "1"},
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Left alone" not in done.stdout
    assert (place.workspace / "kept").read_text() == "precious"
    assert place.workspace.stat().st_mode & 0o777 == 0o750


READING = """
import pathlib
from interlock.adapters.steps.client import Steps
steps = Steps()
for command in ("python build.py", "cat kept"):
    steps.before("bash", {"command": command})
    if command.startswith("cat"):
        pathlib.Path("kept").write_text("changed by a call that only reads")
    else:
        pathlib.Path("made").touch()
    steps.after("ok", exit_code=0)
"""


def test_a_rollback_that_leaves_something_alone_says_so_has_status_1_and_names_force(place: Place) -> None:
    (place.workspace / "kept").write_text("precious")
    assert place.run(sys.executable, "-c", READING)[0] == 0
    rollback = ("rollback", place.folder.run_id)
    for words in (("--dry-run",), ("--yes",), ("--yes",)):
        status, out, err = place.interlock(*rollback, *words)
        assert (status, err) == (1, b"")
        assert b"kept: possibly not this run's work" in out
        assert b"Add --force to include what is possibly not this run's work too." in out
    assert not (place.workspace / "made").exists()
    assert place.interlock(*rollback, "--dry-run", "--json")[0] == 1
    assert place.interlock(*rollback, "--yes", "--json")[0] == 1
    assert place.interlock(*rollback, "--yes", "--force")[0] == 0
    assert (place.workspace / "kept").read_text() == "precious"
    assert place.interlock(*rollback, "--yes")[0] == 0
