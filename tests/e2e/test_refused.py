"""A run that cannot begin leaves nothing behind, and says at once why."""

from __future__ import annotations

import os
import signal
import uuid
from pathlib import Path

import pytest

from interlock.control import new_request
from interlock.core import RunSpec
from interlock.journal import new_run_id
from interlock.link import ask_owner

from .running import Place, finish, owners, until


def test_a_workspace_that_is_taken_makes_no_second_run(place: Place) -> None:
    script = "touch ready; while [ ! -e go ]; do sleep 0.02; done"
    first = place.start("sh", "-c", script, options=("--name", "fix"))
    place.wait_for("ready")
    status, _, err = place.run("echo", "hi")
    assert (status, err.count(b"\n")) == (4, 1), err
    assert b"run fix (process " in err and err.count(bytes(place.workspace)) == 1
    assert len(place.store.runs()) == 1
    (place.workspace / "go").touch()
    assert finish(first)[0] == 0


LATE_FRONT = """
import interlock.adapters.command.run_setup as setup
write = setup.store_launch
def write_late(folder, *given):
    while folder.path.exists():
        pass
    write(folder, *given)
setup.store_launch = write_late
"""


def test_a_front_that_is_late_says_why_the_owner_refused_the_run(place: Place, tmp_path: Path) -> None:
    late = tmp_path / "late"
    late.mkdir()
    (late / "sitecustomize.py").write_text(LATE_FRONT)
    paths = os.pathsep.join(filter(None, (str(late), place.environment.get("PYTHONPATH", ""))))
    command = place.command("echo", "hi", options=("--workspace", "/"))
    status, _, err = finish(place.begin(command, env={**place.environment, "PYTHONPATH": paths}))
    assert (status, b"cannot be a workspace" in err, err.count(b"\n")) == (2, True, 1), err


def test_a_live_run_is_not_rolled_back_by_its_name_either(place: Place) -> None:
    run = place.start("sh", "-c", "touch ready; while [ ! -e go ]; do sleep 0.02; done", options=("--name", "fix"))
    place.wait_for("ready")
    status, _, err = place.interlock("rollback", "fix", "--yes")
    assert (status, err.count(b"\n")) == (4, 1), err
    assert b"is already working in" in err
    status, out, _ = place.interlock("rollback", "fix", "--dry-run")
    assert (status, b"ready: possibly not" in out) == (1, True), "what a silent process did is known at its end"
    (place.workspace / "go").touch()
    assert finish(run)[0] == 0


def test_the_root_folder_is_refused_without_a_run(place: Place) -> None:
    status, _, err = place.run("echo", "hi", options=("--workspace", "/"))
    assert status == 2
    assert b"cannot be a workspace" in err and b"--workspace DIR" in err
    assert place.store.runs() == []


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("no-such-command", 127),
        ("./no-such", 127),
        ("./plain", 126),
        ("./folder", 126),
        ("./bare", 126),
        ("./lost", 127),
    ],
)
def test_a_program_that_cannot_be_started_is_refused_before_anything_is_saved(
    place: Place, words: str, status: int
) -> None:
    (place.workspace / "plain").write_text("echo no\n")
    (place.workspace / "folder").mkdir()
    for name, text in (("bare", "echo no\n"), ("lost", "#!/no/such/shell -e\n")):
        (place.workspace / name).write_text(text)
        (place.workspace / name).chmod(0o755)
    code, _, err = place.run(words)
    assert code == status
    assert err.count(b"\n") == 1 and words.encode() in err
    assert (b"chmod +x" in err) == (words == "./plain")
    assert (b"#!/bin/sh" in err) == (words == "./bare")
    assert (b"/no/such/shell" in err) == (words == "./lost")
    assert place.store.runs() == []
    assert not (place.root / "state").exists(), "no checkpoint either"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_before_the_command_is_there_starts_nothing(place: Place, number: signal.Signals, status: int) -> None:
    run = place.start("touch", "made")
    until("the owner gets ready", lambda: owners(place))
    for owner in owners(place):
        # It stays that way until the signal is there.
        os.kill(owner, signal.SIGSTOP)
    run.send_signal(number)
    code, _, err = finish(run)
    # Before the front listens for it, a signal does what it does to any program.
    assert code in (status, -number) and err == b""
    for owner in owners(place):
        os.kill(owner, signal.SIGCONT)
    until("the owner has gone", lambda: not owners(place))
    assert place.store.runs() == []
    assert not (place.workspace / "made").exists()


def test_a_command_to_a_run_that_never_began_is_answered_at_once(place: Place) -> None:
    folder = place.store.create(RunSpec(run_id=new_run_id(), argv=("agent",), adapter="process"))
    folder.lock().release()
    request = new_request(str(uuid.uuid4()), "cancel", folder.run_id)
    answer = ask_owner(folder, request, timeout=600)
    assert (answer.outcome, answer.code) == ("failure", "not_found")
    assert "never started" in answer.message
