"""A person steers a run whose owner, front or both are dead or hang; the words are true."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from starlette.testclient import TestClient

from interlock.config import Config
from interlock.contain import why_not
from interlock.tui import Top
from interlock.tui.run_reader import RunSource
from interlock.web.serve import make_app
from interlock.web.source import Source
from tests.tui.looking import Seat, watch

from .running import PATIENCE_S, Place, kill_both, owners, until

TICKS = "while :; do date +%s%N > tick; sleep 0.05; done"


def ticks(place: Place) -> bool:
    before = (place.workspace / "tick").read_text()
    time.sleep(0.5)
    return (place.workspace / "tick").read_text() != before


def begin(place: Place, level: str) -> tuple[int, int]:
    if level == "guard" and why_not():
        pytest.skip(f"no guard here: {why_not()}")
    # A fence whose front and owner are dead leaves its own temporary folder behind.
    temporary = place.root / "temporary"
    temporary.mkdir(exist_ok=True)
    env = {**place.environment, "TMPDIR": str(temporary)}
    run = place.start("sh", "-c", TICKS, options=("--contain", level), env=env)
    place.wait_for("tick")
    (owner,) = owners(place)
    return run.pid, owner


@pytest.mark.parametrize("level", ["guard", "off"])
def test_pause_and_resume_work_while_the_owner_hangs(place: Place, level: str) -> None:
    _, owner = begin(place, level)
    os.kill(owner, signal.SIGSTOP)
    run = place.folder.run_id
    status, out, err = place.interlock("pause", run)
    assert (status, ticks(place)) == (0, False), err
    assert b"is paused" in out
    status, _, err = place.interlock("resume", run)
    assert status == 0, err
    until("it goes on", lambda: ticks(place))
    with suppress(ProcessLookupError):  # One that hangs for long is replaced.
        os.kill(owner, signal.SIGCONT)


def test_a_pause_that_no_owner_heard_holds_when_it_comes_back(place: Place) -> None:
    _, owner = begin(place, "guard")
    os.kill(owner, signal.SIGSTOP)
    assert place.interlock("pause", place.folder.run_id)[0] == 0
    with suppress(ProcessLookupError):
        os.kill(owner, signal.SIGKILL)
    until("another owner says that it is paused", lambda: place.store.runs()[0].status == "paused")
    assert not ticks(place)
    status, _, err = place.interlock("resume", place.folder.run_id)
    assert status == 0, err
    until("it goes on", lambda: ticks(place))


def pause_on_the_command_line(place: Place, run: str) -> str:
    status, out, err = place.interlock("pause", "--verbose", run)
    assert status == 0, err
    return out.decode()


def pause_in_the_dashboard(place: Place, run: str) -> str:
    base, token = "http://127.0.0.1:7717", "a-token-that-only-these-tests-know-0123456789"
    app = make_app(Source(place.store), token, control_timeout=PATIENCE_S)
    with TestClient(app, base_url=base, headers={"authorization": f"Bearer {token}"}) as client:
        order = {"command": "pause", "payload": {}}
        sent = client.post(f"/api/runs/{run}/control", json=order, headers={"x-interlock": "1", "origin": base}).json()

        def answered() -> list[dict[str, str]]:
            shown = client.get(f"/api/runs/{run}").json()["controls"]
            return [each for each in shown if each["request_id"] == sent["request_id"] and each["outcome"] != "pending"]

        until("it is answered", answered)
        (answer,) = answered()
    assert answer["outcome"] == "success", answer
    return answer["message"]


def pause_in_the_terminal_ui(place: Place, run: str) -> str:
    answers = []

    async def act(seat: Seat) -> None:
        await seat.sees(run[:8])
        await seat.press("p")
        await seat.until(lambda: [each.state for each in seat.app.steering.of(run)] not in ([], ["sent"]), "an answer")
        answers.extend(seat.app.steering.of(run))

    watch(Top(RunSource(place.store, Config(), checkpoint_store=place.root / "checkpoints")), act, (150, 45))
    assert [answer.state for answer in answers] == ["success"], answers
    return answers[0].message


@pytest.mark.parametrize("pause", [pause_on_the_command_line, pause_in_the_dashboard, pause_in_the_terminal_ui])
def test_a_pause_whose_owner_is_dead_works_from_everywhere(place: Place, pause: Callable[[Place, str], str]) -> None:
    run = begin_and_lose(place, "guard", paused=False)
    assert "paused without its owner" in pause(place, run)
    assert not ticks(place)
    status, _, err = place.interlock("cancel", run)
    assert status == 0 and place.processes() == [], err


def begin_and_lose(place: Place, level: str, *, paused: bool) -> str:
    """A run that has lost its front and its owner."""
    front, owner = begin(place, level)
    run = place.folder.run_id
    if paused:
        assert place.interlock("pause", run)[0] == 0
    kill_both(front, owner)
    return run


KILL_FIRST = """
front=$PPID
until tr '\\0' ' ' < /proc/$front/cmdline | grep -q 'interlock run'; do
    front=$(awk '/^PPid/ { print $2 }' /proc/$front/status)
done
others=$(cat /proc/$front/task/*/children)
kill -9 $front
for other in $others; do test $other = $$ -o $other = $PPID || kill -9 $other; done
"""


def test_a_command_that_kills_front_and_owner_before_all_else_is_known_and_can_be_cancelled(place: Place) -> None:
    run = place.start("sh", "-c", KILL_FIRST + TICKS, options=("--contain", "off"))
    assert run.wait(150) == -signal.SIGKILL
    place.wait_for("tick")
    assert owners(place) == []
    status, out, err = place.interlock("cancel", place.folder.run_id)
    assert status == 0 and b"is cancelled" in out, err
    assert not ticks(place)
    assert place.processes() == []


@pytest.mark.parametrize(("level", "paused"), [("guard", True), ("off", False)])
def test_cancel_leaves_nothing_when_front_and_owner_are_dead(place: Place, level: str, paused: bool) -> None:
    run = begin_and_lose(place, level, paused=paused)
    status, out, err = place.interlock("cancel", run)
    assert status == 0 and b"is cancelled" in out, err
    assert place.processes() == []
    (summary,) = place.store.runs()
    assert (summary.status, summary.reason) == ("aborted", "USER_CANCELLED")


def test_resume_brings_supervision_back_when_front_and_owner_died_while_it_was_paused(place: Place) -> None:
    run = begin_and_lose(place, "guard", paused=True)
    assert not ticks(place)
    status, out, err = place.interlock("resume", run)
    assert status == 0, (out, err)
    until("it goes on", lambda: ticks(place))
    assert place.folder.owner() is not None, "it is supervised again"
    status, out, err = place.interlock("cancel", run)
    assert status == 0 and b"is cancelled" in out, err
    assert place.processes() == []
    until("it has ended", lambda: place.store.runs()[0].reason == "USER_CANCELLED")
    until("nothing is left of its supervision", lambda: owners(place, b"interlock.adapters.command.adoption") == [])


def test_inside_a_fence_resume_says_that_supervision_cannot_come_back(place: Place) -> None:
    if why_not(fenced=True):
        pytest.skip(f"no fence here: {why_not(fenced=True)}")
    run = begin_and_lose(place, "fence", paused=True)
    status, _, err = place.interlock("resume", run)
    assert status == 4 and b"interlock cancel ends it" in err
    assert not ticks(place)
    assert place.interlock("cancel", run)[0] == 0 and place.processes() == []


def test_pause_now_stands_still_in_the_middle_of_a_step(place: Place) -> None:
    agent = (
        "import sys, time\nsys.path[:0] = sys.argv[1].split(':')\n"
        "from interlock.adapters.command import Steps\nsteps = Steps()\nsteps.before('bash', {'command': 'sleep'})\n"
        "while True:\n    open('tick', 'w').write(str(time.time()))\n    time.sleep(0.05)\n"
    )
    (place.workspace / "agent.py").write_text(agent)
    import sys

    place.start(sys.executable, "agent.py", place.environment["PYTHONPATH"])
    place.wait_for("tick")
    status, out, err = place.interlock("pause", place.folder.run_id, "--now", "--timeout", "150")
    assert status == 0 and b"is paused" in out, err
    assert not ticks(place)


def test_sockets_and_gate_that_are_removed_come_back(place_with: Callable[..., Place]) -> None:
    place = place_with({"runtime": {"on_tamper": "warn"}})
    begin(place, "off")
    from interlock.link import noted_socket

    control = noted_socket(place.folder.path)
    assert control is not None
    control.unlink()
    place.folder.gate.unlink()
    until("both are there again", lambda: control.exists() and place.folder.gate.exists())
    assert place.interlock("pause", place.folder.run_id)[0] == 0
    told = {record["what"] for record in place.records("tamper")}
    assert any("socket" in what for what in told) and any("gate" in what for what in told)
