"""A command under `interlock run` behaves as without it, and can be paused, resumed and cancelled."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import msgspec
import pytest

from interlock.journal.folder import read_tree
from interlock.process import attach
from interlock.process.proc import read_process

from .running import Place, finish, until

BEATS = "i=0; while :; do i=$((i+1)); echo $i > beats.new; mv beats.new beats; sleep 0.01; done"
"""A command that shows that it lives."""


def beats(place: Place) -> int:
    return int((place.workspace / "beats").read_text())


def goes_on(place: Place) -> None:
    seen = beats(place)
    until("the command goes on", lambda: beats(place) > seen)


def stands_still(place: Place) -> bool:
    """Whether no process of the tree can run; a frozen one shows as stopped or as waiting in the kernel."""
    return all((p := read_process(pid)) is None or p.state in "TtDS" for pid in place.processes())


def test_streams_and_status_are_the_commands_own(place: Place) -> None:
    status, out, err = place.run("sh", "-c", "cat; echo problem >&2; exit 7", data=b"through\n")
    assert (status, out) == (7, b"through\n")
    assert b"problem" in err.splitlines()[:2], "after the line that says what contains it"
    told = place.told()
    assert (told["exit_status"], told["command_status"], told["reason"]) == (7, 7, "ERROR")


def test_a_command_that_a_signal_ended_ends_us_by_the_same_signal(place: Place) -> None:
    status, _, _ = place.run("sh", "-c", "kill -TERM $$")
    assert status == -signal.SIGTERM


@pytest.mark.parametrize("level", ["off", "auto"])
def test_whoever_called_us_ignores_the_ends_of_its_children(place: Place, level: str) -> None:
    """The kernel would then say of none of ours how it ended, and bubblewrap would wait for one forever."""

    def ignore() -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    script, options = "(exit 4); exit $(($? + 3))", ("--contain", level)
    status, _, err = finish(place.start("sh", "-c", script, options=options, preexec_fn=ignore))
    assert (status, place.told()["command_status"]) == (7, 7)
    assert b"timed out" not in err


def test_a_command_that_does_not_exist_is_refused_with_the_shells_status(place: Place) -> None:
    status, out, err = place.run("no-such-command")
    assert (status, out) == (127, b"")
    assert err.count(b"\n") == 1 and b"no-such-command" in err


def test_a_signal_to_us_reaches_the_command(place: Place) -> None:
    run = place.start("sh", "-c", "trap 'exit 9' TERM; touch ready; while :; do sleep 0.05; done")
    place.wait_for("ready")
    run.send_signal(signal.SIGTERM)
    assert finish(run)[0] == 9


def test_files_that_it_changed_are_named_and_can_be_rolled_back(place: Place) -> None:
    (place.workspace / "kept").write_text("before\n")
    script = "echo new > made; echo after > kept; touch ready; while [ ! -e go ]; do sleep 0.05; done"
    run = place.start("sh", "-c", script)
    place.wait_for("ready")
    until("the checkpoint is recorded", lambda: place.records("checkpoint"))
    first = place.records("checkpoint")[0]["id"]
    answer = place.order("rollback", {"to": first})
    assert answer.outcome == "success", answer
    assert (place.workspace / "kept").read_text() == "before\n", answer
    assert not (place.workspace / "made").exists()
    (place.workspace / "go").touch()
    status, _, err = finish(run)
    assert status == 0
    assert place.told()["files_changed"] == ["go"]
    assert b"  1 file created: go\n  undo: interlock rollback " in err


def test_the_last_lines_tell_new_files_from_changed_and_deleted_ones(place: Place) -> None:
    (place.workspace / "kept").write_text("before\n")
    (place.workspace / "old").write_text("gone soon\n")
    err = place.run("sh", "-c", "echo new > made; echo after > kept; rm old")[2]
    assert b"  1 file created: made\n  1 file changed: kept\n  1 file deleted: old\n" in err
    assert place.told()["files_changed"] == ["kept", "made", "old"]


def test_the_last_lines_name_the_run_as_it_was_named(place: Place) -> None:
    named = ("--name", "tidy up")
    assert (
        b"  undo: interlock rollback 'tidy up'\n  more: interlock show 'tidy up'\n"
        in place.run("touch", "made", options=named)[2]
    )
    other = place.start("sh", "-c", "touch ready; while [ ! -e go ]; do sleep 0.05; done", options=named)
    place.wait_for("ready")
    elsewhere = place.workspace.with_name("elsewhere")
    elsewhere.mkdir()
    status, _, err = place.run("touch", "made", options=(*named, "--workspace", str(elsewhere)))
    assert status == 0, err
    assert b"rollback 'tidy up'" not in err
    (place.workspace / "go").touch()
    finish(other)


def test_pause_freezes_what_cannot_be_held_and_resume_thaws_it(place: Place) -> None:
    run = place.start("sh", "-c", BEATS)
    place.wait_for("beats")
    assert place.order("pause").outcome == "success"
    seen = beats(place)
    assert place.folder.gate.read_text().count('"shut":true') == 1
    assert stands_still(place) and beats(place) == seen
    assert place.order("resume").outcome == "success"
    goes_on(place)
    assert place.order("cancel").outcome == "success"
    assert finish(run)[0] == 130
    assert place.processes() == []


def test_cancel_ends_the_whole_tree_also_what_will_not_hear(place: Place) -> None:
    script = "trap '' TERM; setsid sh -c 'trap \"\" TERM; touch ready; while :; do sleep 1; done' & while :; do sleep 1; done"
    run = place.start("sh", "-c", script)
    place.wait_for("ready")
    until("the tree is written down", lambda: read_tree(place.folder) is not None)
    tree = read_tree(place.folder)
    status, _, err = place.interlock("cancel", place.folder.run_id)
    assert status == 0, err
    assert tree is not None and not attach(tree).alive(), "said when it is true"
    status, _, err = finish(run)
    assert status == 130
    assert b"cancelled" in err
    assert place.processes() == []
    assert place.told()["status"] == "aborted"
    (row,) = place.store.runs()
    assert (row.ending, row.outcome) == ("cancelled", "cancelled by you")


def test_a_killed_owner_is_replaced_and_the_command_goes_on(place: Place) -> None:
    run = place.start("sh", "-c", BEATS)
    place.wait_for("beats")
    until("the owner has the command", lambda: place.records("started"))
    first = place.folder.owner()
    os.kill(first.pid, signal.SIGKILL)
    goes_on(place)
    until("there is a new owner", lambda: (now := place.folder.owner()) is not None and now.pid not in (0, first.pid))
    assert place.order("pause").outcome == "success"
    seen, second = beats(place), place.folder.owner()
    os.kill(second.pid, signal.SIGKILL)
    until(
        "there is a third owner", lambda: (now := place.folder.owner()) is not None and now.pid not in (0, second.pid)
    )
    assert beats(place) == seen, "paused stays paused"
    assert place.order("resume").outcome == "success"
    goes_on(place)
    assert place.order("cancel").outcome == "success"
    assert finish(run)[0] == 130
    assert place.processes() == []
    assert sum(record.get("successor", False) for record in place.records("started")) == 2


def test_a_held_step_stays_held_when_the_owner_dies_and_counts_once(place: Place) -> None:
    script = (
        "import pathlib\nfrom interlock.adapters.steps.client import Steps\nsteps = Steps()\n"
        "steps.before('bash', {'command': 'ls'}); steps.after('a', exit_code=0); pathlib.Path('first').touch()\n"
        "while not pathlib.Path('go').exists(): pass\n"
        "steps.before('bash', {'command': 'cat a'}); pathlib.Path('second').touch(); steps.after('b', exit_code=0)\n"
    )
    run = place.start(sys.executable, "-c", script)
    place.wait_for("first")
    assert place.order("pause").outcome == "success"
    (place.workspace / "go").touch()
    owner = place.folder.owner()
    os.kill(owner.pid, signal.SIGKILL)
    until("there is a new owner", lambda: (now := place.folder.owner()) is not None and now.pid not in (0, owner.pid))
    assert place.order("resume").outcome == "success"
    assert finish(run)[0] == 0
    assert (place.workspace / "second").exists()
    commands = [r["step"]["tool"]["arguments"] for r in place.records("step") if r["step"]["kind"] == "tool_call"]
    assert commands == [{"command": "ls"}, {"command": "cat a"}]


def test_a_known_id_does_not_let_another_call_through_when_the_owner_was_replaced(place: Place) -> None:
    script = (
        "import json, pathlib\nfrom interlock.adapters.steps.client import Steps\nsteps = Steps()\n"
        "steps.before('bash', {'command': 'ls'}, call_id='1'); pathlib.Path('first').touch()\n"
        "while not pathlib.Path('go').exists(): pass\n"
        "again = steps.before('bash', {'command': 'ls'}, call_id='1')\n"
        "other = steps.before('bash', {'command': 'rm -rf / --no-preserve-root'}, call_id='1')\n"
        "print(json.dumps([again, other]))\n"
    )
    run = place.start(sys.executable, "-c", script)
    place.wait_for("first")
    until("the call is in the journal", lambda: bool(place.records("step")))
    owner = place.folder.owner()
    os.kill(owner.pid, signal.SIGKILL)
    until("there is a new owner", lambda: (now := place.folder.owner()) is not None and now.pid not in (0, owner.pid))
    (place.workspace / "go").touch()
    status, out, err = finish(run)
    assert status == 0, err
    again, other = json.loads(out)
    assert again == {"action": "proceed", "step": 0}
    assert other["action"] == "deny", other
    commands = [r["step"]["tool"]["arguments"]["command"] for r in place.records("step")]
    assert commands == ["ls", "rm -rf / --no-preserve-root"], "a call reported twice counts once"


def test_without_the_front_the_owner_sees_the_command_to_its_end(place: Place) -> None:
    run = place.start(
        sys.executable,
        "-c",
        "import pathlib, time\npathlib.Path('ready').touch()\nwhile not pathlib.Path('go').exists(): time.sleep(0.05)",
    )
    place.wait_for("ready")
    folder = place.folder
    run.kill()
    run.wait()
    (place.workspace / "go").touch()
    until("the run has ended", lambda: place.store.runs()[0].status == "done")
    until("the owner has gone", lambda: folder.owner() is None)


def test_the_time_limit_ends_it(place: Place) -> None:
    status, _, err = place.run("sleep", "600", options=("--max-minutes", "0.01"))
    assert status == 124, err
    assert b"max_execution_time" in err
    assert place.records("limit")[0]["limit"] == "max_execution_time"
    assert place.processes() == []


def test_a_limit_in_dollars_that_could_not_be_held_is_said_at_the_end(place: Place) -> None:
    agent = (
        "from interlock.adapters.steps.client import Steps\n"
        "steps = Steps()\n"
        "steps.before('bash', {'command': 'ls'}, usage={'input_tokens': 900, 'output_tokens': 90})\n"
        "steps.after('a.txt', exit_code=0)\n"
    )
    status, _, err = place.run(sys.executable, "-c", agent, options=("--max-cost", "5"))
    assert status == 0
    assert b"990 tokens, cost unknown/5.00" in err
    assert b"990 tokens have no known price" in err


def test_the_memory_limit_ends_what_exceeds_it(tmp_path: Path) -> None:
    place = Place(tmp_path, {"limits": {"max_memory_mb": 64}})
    status, _, _ = place.run(sys.executable, "-c", "x = b'x' * 300_000_000; import time; time.sleep(600)")
    assert status == 124
    assert any("memory" in record["what"] for record in place.records("limit"))


def test_a_failed_run_is_called_by_its_status_everywhere(place: Place) -> None:
    run = place.start("sh", "-c", "exit 7")
    assert finish(run)[0] == 7
    (listed,) = msgspec.json.decode(place.interlock("ps", "--all", "--json")[1])["runs"]
    shown = msgspec.json.decode(place.interlock("show", place.folder.run_id, "--json")[1])["run"]
    for each in (listed, shown):
        assert (each["outcome"], each["status"], each["exit_status"]) == ("failed (7)", "aborted", 7)
    for words in (("ps", "--all"), ("show", place.folder.run_id)):
        assert place.interlock(*words)[1].count(b"failed (7)") == 1
