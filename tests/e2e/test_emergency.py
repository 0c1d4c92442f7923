"""An emergency stop stops the agent first, whatever the state is: empty, without disk space, with a hanging channel."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.runtime import Incidents

from .running import Place, fill, finish

SEVERE = {"strategy": {"type": "severity"}, "emergency_stop": {"notification_channels": []}}
DESTROYER = """
import pathlib, signal, time
from interlock.adapters.steps.client import Steps
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path("ready").touch()
while not pathlib.Path("go").exists():
    time.sleep(0.02)
steps = Steps()
steps._tell({"after": {"role": "assistant", "tool": {"name": "bash", "arguments": {"command": "rm -rf / --no-preserve-root"}}}})
steps._tell({"after": {"role": "tool", "content": "done", "tool": {"name": "bash"}, "exit_code": 0}})
time.sleep(600)
"""
"""Tells of damage only after it is done, does not hear SIGTERM, and would go on for long."""


def destroy(place: Place, meanwhile: Callable[[], None] = lambda: None) -> tuple[int, bytes]:
    run = place.start(sys.executable, "-c", DESTROYER, options=("--no-checkpoints",))
    place.wait_for("ready")
    meanwhile()
    (place.workspace / "go").touch()
    status, _, said = finish(run)
    return status, said


def test_the_first_step_of_a_run_can_be_its_last(place_with: Callable[..., Place]) -> None:
    place = place_with({"interventions": SEVERE})
    status, said = destroy(place)
    assert status == 125, said
    assert place.processes() == []
    (stored,) = Incidents(place.store).all()
    assert stored.incident.issue.type == "destructive_action"
    assert stored.status == "open" and place.folder.gate.exists(), "a person chooses what follows"
    assert place.told()["incident_id"] == stored.id
    applied = [r for r in place.records("applied") if r["directive"]["do"] == "stop"]
    assert "had to be killed" in applied[0]["applied"]["how"]


def test_without_disk_space_the_agent_is_stopped_all_the_same(
    place_with: Callable[..., Place], small_disk: Path
) -> None:
    place = place_with({"interventions": SEVERE}, store=small_disk / "runs")
    status, said = destroy(place, lambda: fill(small_disk))
    assert status == 125, said
    assert place.processes() == []


ENDLESS = """
import pathlib
from interlock.adapters.steps.client import Steps
steps, number = Steps(), 0
while True:
    number += 1
    if steps.before("bash", {"command": f"make part-{number}"})["action"] != "proceed":
        break
    pathlib.Path("at").write_text(str(number))
    steps.after("x" * 5000, exit_code=0)
"""


@pytest.mark.parametrize("small_disk", ["8m"], indirect=True)
def test_without_disk_space_a_person_is_obeyed_all_the_same(place_with: Callable[..., Place], small_disk: Path) -> None:
    place = place_with(store=small_disk / "runs")
    run = place.start(sys.executable, "-c", ENDLESS, options=("--no-checkpoints",))
    place.wait_for("at")
    fill(small_disk)
    for command in ("pause", "resume", "pause", "cancel"):
        assert place.order(command).outcome == "success"
    status, _, said = finish(run)
    assert (status, place.processes()) == (130, []), said
    assert place.store.runs()[0].status == "aborted"


def test_a_channel_that_hangs_holds_up_neither_stop_nor_clean_up(place_with: Callable[..., Place]) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        url = f"json://127.0.0.1:{deaf.getsockname()[1]}"
        stop = {"notification_channels": ["deaf"]}
        place = place_with(
            {
                "interventions": {"strategy": {"type": "severity"}, "emergency_stop": {**stop, "auto_cleanup": True}},
                "notifications": {"channels": {"deaf": url}},
            }
        )
        status, said = destroy(place)
        assert status == 125, said
        assert place.processes() == []
        (stored,) = Incidents(place.store).all()
        assert (stored.status, stored.option) == ("aborted", "abort")
        assert not place.folder.gate.exists(), "cleaned up by itself"


def test_limits_hold_against_an_agent_that_ignores_them(place_with: Callable[..., Place]) -> None:
    place = place_with()
    script = (
        "from interlock.adapters.steps.client import Steps\n"
        "steps = Steps()\n"
        "while True:\n"
        "    steps.before('bash', {'command': 'ls'}); steps.after('a b c', exit_code=0)\n"
    )
    status, _, said = place.run(sys.executable, "-c", script, options=("--max-steps", "6"))
    assert status == 124, said
    calls = [r for r in place.records("step") if r["step"]["kind"] == "tool_call"]
    assert len(calls) <= 7
    assert place.records("limit")[0]["limit"] == "max_steps"
    # A call and its result are two steps; the limit, and what is said of it, is about calls.
    assert b"6 of 6 tool calls" in said and place.told()["calls"] == len(calls)
    assert f"steps ({len(calls)} tool calls)".encode() in said
    assert place.processes() == []


def test_old_incidents_are_removed_at_the_start_of_a_run(place_with: Callable[..., Place]) -> None:
    place = place_with({"interventions": SEVERE})
    destroy(place)
    assert len(Incidents(place.store).all()) == 1
    keep_none = {**SEVERE, "emergency_stop": {"preserve_incident_data_days": 0}}
    later = place_with({"interventions": keep_none})
    assert later.run("true")[0] == 0
    assert Incidents(later.store).all() == []
