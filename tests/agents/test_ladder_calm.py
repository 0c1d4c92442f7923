"""The ladder against real clients whose model heeds a hint, waits for something, or relapses: never more than needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .clients import Client, shown
from .ladder import BUILD, CHECK, LED, POLL, QUICK, Answer, Heeding, LadderPlace, Relapsing, version_of, waiting

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]

POLLS = 10
Make = Callable[[Answer], LadderPlace]


@pytest.fixture(params=LED, ids=lambda client: client.name)
def place_for(
    request: pytest.FixtureRequest, agents_folder: Path, tmp_path: Path, record_property: Callable[..., None]
) -> Iterator[Make]:
    client: Client = request.param
    record_property("agent", client.name)
    record_property("version", version_of(client, agents_folder, tmp_path))
    made: list[LadderPlace] = []

    def make(answer: Answer) -> LadderPlace:
        made.append(LadderPlace(tmp_path, client, answer, agents_folder, QUICK))
        return made[-1]

    yield make
    for place in made:
        place.close()
        place.model.close()


def test_an_agent_that_heeds_the_hint_gets_one_and_no_more(place_for: Make) -> None:
    place = place_for(Heeding())
    status, out, err = place.do_task()
    assert status == 0, (out, err)
    answers = place.answers()
    assert [(one["type"], one["outcome"]) for one in answers] == [("soft_correction", "success")], shown(answers)
    assert place.records("episode")[-1]["ending"] == "solved"
    assert place.commands().count(CHECK) > 2


def test_polling_with_unchanged_output_is_left_alone(place_for: Make) -> None:
    place = place_for(waiting(POLLS))
    status, out, err = place.do_task("Deploy the shop with kubectl.")
    assert status == 0, (out, err)
    assert place.commands() == [POLL] * POLLS
    told = place.told()
    assert (told["status"], told["issues"], told["interventions"]) == ("done", 0, 0), shown(place.records("issue"))


def test_a_problem_that_comes_back_twice_is_answered_higher_the_second_time(place_for: Make) -> None:
    place = place_for(Relapsing())
    (place.workspace / "broken").touch()
    status, out, err = place.do_task("Change the shop, and build it after every change.")
    assert status == 0, (out, err)
    answers = place.answers()
    assert [(one["type"], one["outcome"]) for one in answers] == [
        ("soft_correction", "success"),
        ("soft_correction", "success"),
        ("context_reinforcement", "success"),
    ], shown(answers)
    assert len({one["episode"] for one in answers}) == 1, shown(answers)
    assert place.records("episode")[-1]["relapses"] == 2
    assert BUILD in place.commands()
