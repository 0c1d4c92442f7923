"""The ladder against real clients whose model edits and tests for ever: every rung in turn, then a stop or a person."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .clients import AGENT_S, Client, shown, until
from .ladder import DID_NOT, LADDER_S, LED, QUICK, RUNGS, WENT_BACK, LadderPlace, Stubborn, edit, version_of

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]


@pytest.fixture(params=LED, ids=lambda client: client.name)
def client(
    request: pytest.FixtureRequest, agents_folder: Path, tmp_path: Path, record_property: Callable[..., None]
) -> Client:
    client: Client = request.param
    record_property("agent", client.name)
    record_property("version", version_of(client, agents_folder, tmp_path))
    return client


@pytest.fixture
def unattended(client: Client, agents_folder: Path, tmp_path: Path) -> Iterator[LadderPlace]:
    yield from LadderPlace.opened(tmp_path, client, Stubborn(), agents_folder, QUICK)


@pytest.fixture
def attended(client: Client, agents_folder: Path, tmp_path: Path) -> Iterator[LadderPlace]:
    """A person can be reached: there is a channel, though nothing listens there."""
    config = {**QUICK, "notifications": {"channels": {"ops": "json://127.0.0.1:9"}}}
    yield from LadderPlace.opened(tmp_path, client, Stubborn(), agents_folder, config)


def test_a_stuck_loop_climbs_to_a_rollback_that_its_conversation_follows_and_then_to_a_stop(
    unattended: LadderPlace,
) -> None:
    status, out, err = unattended.do_task(options=("--proxy",))
    assert status == 125, (out, err)
    told = unattended.told()
    assert told["reason"] == "EMERGENCY_STOP", shown(told)
    assert unattended.processes() == []
    assert told["incident_id"]
    climbs(unattended, "emergency_stop")
    before, after = unattended.around_the_rollback()
    assert after.turn < before.turn, [request.turn for request in unattended.model.asked]
    assert WENT_BACK in after.text and DID_NOT not in after.text
    undone = [edit(number) for number in unattended.abandoned_tries()]
    assert undone and all(command in before.text for command in undone)
    assert not any(command in after.text for command in undone), "the conversation still holds what was undone"


def test_where_a_person_can_be_reached_the_run_pauses_says_why_and_can_be_cancelled(attended: LadderPlace) -> None:
    process = attended.begin_task(options=("--no-proxy",))
    until("it needs a person", lambda: attended.is_paused() or process.poll() is not None, LADDER_S)
    assert process.poll() is None, process.communicate()
    calls = len(attended.steps("tool_call"))
    _, listed, _ = attended.interlock("ps")
    _, page, _ = attended.interlock("show", attended.folder.run_id)
    for words in (listed.decode(), page.decode()):
        assert "paused" in words, words
        assert "4 interventions did not help" in " ".join(words.split()), words
    assert len(attended.steps("tool_call")) == calls, "it is held"
    status, out, err = attended.interlock("cancel", attended.folder.run_id)
    assert status == 0, (out, err)
    out, err = process.communicate(timeout=AGENT_S)
    assert process.returncode == 130, (process.returncode, out, err)
    assert attended.told()["reason"] == "USER_CANCELLED", attended.told()
    assert attended.processes() == []
    climbs(attended, "pause_for_person")
    before, after = attended.around_the_rollback()
    assert after.turn > before.turn, "its conversation did not pass through us"
    assert DID_NOT in after.text and WENT_BACK not in after.text


def climbs(place: LadderPlace, top: str) -> None:
    """Every rung once, in order, each judged a failure, no text twice, and the files back at the rollback."""
    answers = place.answers()
    assert [one["type"] for one in answers] == [*RUNGS, top], shown(answers)
    assert {one["outcome"] for one in answers[:-1]} == {"failure"}, shown(answers)
    assert len({one["episode"] for one in answers}) == 1, shown(answers)
    said = place.said()
    assert len(said) == len(set(said)) >= 4, said
    for text in said[:2]:
        assert any(text.splitlines()[0] in request.text for request in place.model.asked), text
    (restored,) = place.records("restored")
    assert "total.py" in "".join(restored["changed"]), restored
    assert place.tries_in_the_file() == place.tries_that_count(), (place.workspace / "total.py").read_text()
