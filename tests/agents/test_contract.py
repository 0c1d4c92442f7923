"""A contract and its stop gate with the real clients: refused, undone, sent back, and in the end not proven."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.demo.model import ScriptedModel, run, turns
from interlock.demo.model.script import write

from .clients import CLIENTS, AgentPlace, Client, shown
from .frameworks import FRAMEWORKS, Program

pytestmark = pytest.mark.agents

HIDDEN_EDIT = "perl -e 'open F, q(>), q(te) . q(sts/test_a.py); print F q(assert True)'"
"""An edit that no reading of the command shows: only its effect does."""

ORIGINAL = "def test_a():\n    assert add(1, 2) == 3\n"
CHECK = "grep -q fixed src/a.py"
MakePlace = Callable[..., AgentPlace]


@pytest.fixture(scope="module", params=CLIENTS, ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> Client:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def place_for(client: Client, agents_folder: Path, tmp_path: Path) -> Iterator[MakePlace]:
    made: list[AgentPlace] = []

    def make(*script: Any) -> AgentPlace:
        place = AgentPlace(tmp_path, client, ScriptedModel(turns(*script)).start(), agents_folder, {})
        (place.workspace / "tests").mkdir()
        (place.workspace / "tests" / "test_a.py").write_text(ORIGINAL)
        (place.workspace / "src").mkdir()
        (place.workspace / "src" / "a.py").write_text("broken\n")
        made.append(place)
        return place

    yield make
    for place in made:
        place.close()
        place.model.close()


def test_a_test_is_not_edited_a_claim_is_not_believed_and_a_failing_check_ends_as_unproven(
    client: Client, place_for: MakePlace
) -> None:
    place = place_for(write("tests/test_b.py", "assert True\n"), run(HIDDEN_EDIT), *["I fixed it. All tests pass."] * 6)
    options = ("--protect", "tests/**", "--done-when", CHECK)
    status, _, err = place.run_agent(options=options)
    assert status == 123, err.decode()[-2000:]
    assert (place.workspace / "tests" / "test_a.py").read_text() == ORIGINAL
    refused = [r for r in place.records("step") if "contract.protect" in (r.get("review") or {}).get("rules", ())]
    assert refused, shown(place.records("step"))
    assert "--protect" in refused[0]["decision"]["reason"]
    undone = place.records("breach")
    assert [record["restored"] for record in undone] == [["tests/test_a.py"]], shown(undone)
    gates = place.records("stop_gate")
    returned = [gate for gate in gates if gate["outcome"] == "returned"]
    assert len(returned) == 3, shown(gates)
    assert gates[-1]["outcome"] == "unproven"
    assert "grep -q fixed" in place.told()["message"]
    said = "".join(request.text for request in place.model.asked)
    assert "you are not done" in said
    assert "Interlock restored tests/test_a.py" in said


def test_a_check_that_passes_after_it_went_back_ends_the_run_as_done(client: Client, place_for: MakePlace) -> None:
    place = place_for("I fixed it.", run("echo fixed > src/a.py"), "Now it is fixed.")
    status, _, err = place.run_agent(options=("--done-when", CHECK))
    assert status == 0, err.decode()[-2000:]
    outcomes = [gate["outcome"] for gate in place.records("stop_gate")]
    assert outcomes[0] == "returned", outcomes
    assert outcomes[-1] == "passed", outcomes


def test_a_claim_without_a_run_is_answered_once(client: Client, place_for: MakePlace) -> None:
    place = place_for("I changed nothing. All tests pass.", *["All tests pass."] * 3)
    status, _, err = place.run_agent()
    assert status == 0, err.decode()[-2000:]
    gates = place.records("stop_gate")
    assert [gate["outcome"] for gate in gates] == ["asked"], shown(gates)
    assert "no tests were run" in gates[0]["claims"][0]


def test_nothing_is_added_where_nothing_is_agreed_and_nothing_is_claimed(client: Client, place_for: MakePlace) -> None:
    place = place_for(run("ls"), "There are two folders here.")
    status, _, err = place.run_agent()
    assert status == 0, err.decode()[-2000:]
    assert not place.records("stop_gate")
    assert not place.records("contract")
    assert "Interlock" not in str([request.text for request in place.model.asked if request.has_tools])


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["langchain", "claude-agent-sdk"])
def test_the_same_in_a_framework(name: str, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    framework = next(one for one in FRAMEWORKS if one.name == name)
    record_property("agent", framework.name)
    record_property("version", framework.version)
    config = {"contract": {"protect": ["tests/**"], "done_when": [CHECK]}}
    script = turns(run("echo x > tests/test_a.py"), run(HIDDEN_EDIT), *["I fixed it. All tests pass."] * 6)
    here = Program(tmp_path, framework, script, config)
    (here.workspace / "tests").mkdir()
    (here.workspace / "tests" / "test_a.py").write_text(ORIGINAL)
    (here.workspace / "src").mkdir()
    (here.workspace / "src" / "a.py").write_text("broken\n")
    try:
        status, _, err = here.whole()
        assert status == 0, err[-3000:]
        assert (here.workspace / "tests" / "test_a.py").read_text() == ORIGINAL
        outcomes = [gate["outcome"] for gate in here.records("stop_gate")]
        assert outcomes.count("returned") == 3, outcomes
        assert outcomes[-1] == "unproven"
        (end,) = here.records("end")
        assert end["reason"] == "UNPROVEN"
        assert "you are not done" in "".join(request.text for request in here.model.asked)
    finally:
        here.close()
