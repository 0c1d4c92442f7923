"""A run that a usage limit stops is parked and goes on: real runs, real kills, no client that cooperates."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.journal.parked_file import read_parked
from interlock.runtime.resume_after_limit import Parked

from .running import Place, finish, kill_both, owners, until

CLIENT = """
import os, sys, time
parks = os.environ.get("INTERLOCK_PARKS", "0")
with open("starts", "a") as log:
    log.write(parks + "\\n")
if int(parks) >= {needed}:
    print("finished")
    sys.exit(0)
print("working on it")
print("You've hit your usage limit. Try again in {seconds} seconds.", file=sys.stderr)
sys.exit(1)
"""


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path, {"unattended": {"resume": {"jitter_s": 0, "rerun": True}}})
    yield made
    for pid in owners(made, b"interlock.adapters.command.adoption"):
        os.kill(pid, signal.SIGKILL)
    made.close()


def adopt_orphans(place: Place) -> int:
    """What `interlock serve` does, in a process with the place's environment."""
    code = "import sys; from pathlib import Path; from interlock.link import adopt_orphans as a"
    words = [sys.executable, "-c", f"{code}; print(a(Path(sys.argv[1])))", str(place.store.root)]
    return int(subprocess.run(words, env=place.environment, capture_output=True, check=True).stdout)


def client(place: Place, seconds: float, needed: int = 1) -> tuple[str, ...]:
    script = place.root / "client.py"
    script.write_text(CLIENT.format(seconds=seconds, needed=needed))
    return sys.executable, str(script)


def starts(place: Place) -> list[str]:
    path = place.workspace / "starts"
    return path.read_text().split() if path.exists() else []


def parked(place: Place) -> Parked | None:
    return read_parked(place.folder, Parked) if place.store.runs() else None


def set_timer(place: Place, **changes: object) -> None:
    """Change a timer on the disk, as another boot or clock would find it."""
    path = place.folder.path / "parked.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_client_that_a_limit_ended_is_started_again_once_and_the_run_completes(place):
    status, out, err = place.run(*client(place, 1, needed=2))
    assert status == 0, err
    assert out.count(b"working on it") == 2 and b"finished" in out
    assert starts(place) == ["0", "1", "2"]
    assert [each["number"] for each in place.records("parked")] == [1, 2]
    assert [each["number"] for each in place.records("woken")] == [1, 2]
    assert place.told()["reason"] == "COMPLETE"
    assert not (place.folder.path / "parked.json").exists()


def test_a_parked_run_refuses_pause_and_is_woken_by_resume(place):
    process = place.start(*client(place, 3600))
    until("parked", lambda: (p := parked(place)) is not None and p.status is not None)
    until("told", lambda: place.store.runs()[0].status == "paused")
    run = place.store.runs()[0]
    assert run.liveness is not None and run.liveness.word == "parked" and run.liveness.wake is not None
    state = place.records("state")[-1]
    assert state["status"] == "paused" and state["waiting"]["kind"] == "parked"
    assert state["waiting"]["until"] == run.liveness.wake
    _, lines, _ = place.interlock("show", run.run_id)
    assert b"by itself" in lines and b"needs you" not in lines and lines.count(b"Try again in") == 1
    _, shown, _ = place.interlock("ps")
    assert b"parked until" in shown
    _, report, _ = place.interlock("report", run.run_id, "--output", "-", "--format", "md")
    assert b"It is parked until" in report and b"waits for a person" not in report
    assert place.order("pause").code == "invalid_state"
    assert place.order("resume").outcome == "success"
    assert finish(process)[0] == 0
    assert [each["by"] for each in place.records("woken")] == ["a person"] and starts(place) == ["0", "1"]


def test_a_parked_run_that_is_cancelled_never_wakes(place):
    process = place.start(*client(place, 3600))
    until("parked", lambda: (p := parked(place)) is not None and p.status is not None)
    assert place.order("cancel").outcome == "success"
    assert finish(process)[0] == 130
    assert starts(place) == ["0"] and place.records("woken") == []
    assert adopt_orphans(place) == 0


def test_a_window_that_has_passed_waits_for_a_person(place):
    process = place.start(*client(place, 3600))
    until("parked", lambda: (p := parked(place)) is not None and p.status is not None)
    os.kill(place.folder.owner().pid, signal.SIGKILL)
    timer = parked(place)
    set_timer(place, delay=0.0, until=timer.at.wall - 1)
    until("it waits", lambda: (p := parked(place)) is not None and p.held_by)
    until("shown", lambda: (run := place.store.runs()[0]).liveness and run.liveness.words == "parked: needs you")
    assert starts(place) == ["0"] and place.records("woken") == []
    assert place.order("resume").outcome == "success"
    assert finish(process)[0] == 0 and starts(place) == ["0", "1"]


def test_a_parked_run_outlives_its_owner_and_its_front(place):
    process = place.start(*client(place, 3600))
    until("parked", lambda: (p := parked(place)) is not None and p.status is not None)
    kill_both(process.pid, place.folder.owner().pid)
    process.wait()
    until("nobody has it", lambda: place.folder.owner() is None)
    set_timer(place, delay=1.0)
    assert adopt_orphans(place) == 1
    until("done", lambda: place.store.runs()[0].status == "done")
    assert starts(place) == ["0", "1"] and len(place.records("woken")) == 1


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_a_front_that_is_killed_or_loses_its_terminal_leaves_a_run_that_wakes_by_itself(place, number):
    process = place.start(*client(place, 4))
    assert process.stderr is not None
    assert any(b"parked until" in line for line in iter(process.stderr.readline, b""))
    process.send_signal(number)
    process.wait()
    until("done", lambda: place.store.runs()[0].status == "done")
    assert starts(place) == ["0", "1"] and len(place.records("woken")) == 1


def test_a_reboot_and_a_clock_that_went_back_do_not_wake_it_early_or_twice(place):
    process = place.start(*client(place, 3600))
    until("parked", lambda: (p := parked(place)) is not None and p.status is not None)
    kill_both(process.pid, place.folder.owner().pid)
    process.wait()
    timer = parked(place)
    set_timer(place, delay=1.0, at={"wall": timer.at.wall, "since_boot": 1e9, "boot": "another boot"})
    for note in place.store.root.rglob("quota-*"):
        note.unlink()  # It is of this boot.
    tree = place.folder.path / "tree.json"
    tree.write_text(json.dumps({**json.loads(tree.read_text()), "boot": "another boot"}))
    until("nobody has it", lambda: place.folder.owner() is None)
    assert adopt_orphans(place) == 1
    until("done", lambda: place.store.runs()[0].status == "done")
    assert starts(place) == ["0", "1"] and len(place.records("woken")) == 1


def test_a_command_without_a_session_is_run_again_by_a_person_only(tmp_path, request):
    place = Place(tmp_path, {"unattended": {"resume": {"jitter_s": 0}}})
    request.addfinalizer(place.close)
    process = place.start(*client(place, 0))
    until("parked", lambda: (p := parked(place)) is not None and p.status is not None and p.held_by)
    until("told", lambda: place.store.runs()[0].status == "paused")
    os.kill(place.folder.owner().pid, signal.SIGKILL)
    until("shown", lambda: b"parked: needs you" in place.interlock("ps")[1])
    shown = place.interlock("inbox")[1]
    assert b"Parked until you resume it" in shown and b"The command starts again from its beginning." in shown
    waiting = place.records("state")[-1]["waiting"]
    assert waiting["kind"] == "parked" and not waiting["until"] and "would start over" in waiting["text"]
    assert starts(place) == ["0"] and place.records("woken") == []
    assert place.order("resume").outcome == "success"
    assert finish(process)[0] == 0 and starts(place) == ["0", "1"]
    assert [each["by"] for each in place.records("woken")] == ["a person"]


def test_max_parks_zero_leaves_everything_as_it_was(tmp_path):
    place = Place(tmp_path, {"unattended": {"resume": {"max_parks": 0}}})
    status, _, _ = place.run(*client(place, 1))
    assert status == 1 and place.records("parked") == []
    place.close()


def test_the_environment_that_is_stored_has_no_secrets(place, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret-0123456789")
    assert place.run(*client(place, 1))[0] == 0
    files = [path.read_bytes() for path in Path(place.folder.path).rglob("*") if path.is_file()]
    assert not any(b"sk-very-secret-0123456789" in data for data in files)
