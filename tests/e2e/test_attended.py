"""`interlock run --attended`: what changes something waits for the person at the terminal, or for one elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from .running import Place, finish, until
from .test_terminal import Screen

AGENT = """
from interlock.adapters.steps.client import Steps
import pathlib
with Steps() as steps:
    for name in ("one", "two", "three"):
        answer = steps.before("bash", {"command": f"touch {name}"})
        # One write: the question comes from another process, and may come between two.
        print(f"{name} {answer['action']} {answer.get('reason', '')}", flush=True)
        if answer["action"] == "proceed":
            pathlib.Path(name).touch()
            steps.after("", exit_code=0)
"""


@pytest.fixture
def screen(place: Place) -> Iterator[Screen]:
    shown = Screen(place.command(sys.executable, "-c", AGENT, options=("--attended",)), place)
    yield shown
    shown.close()


def test_the_person_at_the_terminal_is_asked(screen: Screen, place: Place) -> None:
    screen.see("Allow?")
    screen.type("perhaps\n")
    screen.see("y or n:")
    screen.type("y\n")
    screen.see("one proceed")
    screen.see("Allow?", 2)
    screen.type("n not this one\n")
    screen.see("two deny A person rejected this step: not this one")
    screen.see("Allow?", 3)
    assert place.interlock("approve", place.folder.run_id)[0] == 0
    screen.see("three proceed")
    assert screen.end() == 0
    made = sorted(path.name for path in place.workspace.iterdir() if path.name in ("one", "two", "three"))
    assert made == ["one", "three"]


def test_without_a_terminal_it_says_where_to_answer(place: Place) -> None:
    run = place.start(sys.executable, "-c", AGENT, options=("--attended", "--name", "asked"), start_new_session=True)
    for _ in range(3):
        # Refused while nothing waits: the agent has not come so far yet.
        until("it is approved", lambda: place.interlock("approve", "asked")[0] == 0)
    status, out, err = finish(run)
    assert status == 0
    assert out.count(b"proceed") == 3
    assert b"interlock approve" in err
