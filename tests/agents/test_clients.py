"""What every command-line agent must be able to show under `interlock run`, with the real client."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.demo.model import ScriptedModel, run, turns

from .clients import AGENT_S, CLIENTS, AgentPlace, Client, shown, until

pytestmark = pytest.mark.agents

DESTROY = "rm -rf ~/precious"
STOP_AT_ONCE = dict.fromkeys(
    ("soft_correction", "context_reinforcement", "resource_throttling", "checkpoint_rollback"), False
)
"""Every milder answer switched off."""

MakePlace = Callable[..., AgentPlace]
_versions: dict[str, str] = {}


@pytest.fixture(scope="module", params=CLIENTS, ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> Client:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(autouse=True)
def told_about(client: Client, agents_folder: Path, tmp_path: Path, record_property: Callable[..., None]) -> None:
    """Say which client a test is about."""
    if client.name not in _versions:
        _versions[client.name] = client.version(agents_folder, tmp_path)
    record_property("agent", client.name)
    record_property("version", _versions[client.name])


@pytest.fixture
def place_for(client: Client, agents_folder: Path, tmp_path: Path) -> Iterator[MakePlace]:
    """Make a place for a client with what its model says and a configuration; afterwards nothing of it runs."""
    made: list[AgentPlace] = []

    def make(script: Any, config: dict[str, Any] | None = None) -> AgentPlace:
        made.append(AgentPlace(tmp_path, client, ScriptedModel(script).start(), agents_folder, config or {}))
        return made[-1]

    yield make
    for place in made:
        place.close()
        place.model.close()


@pytest.fixture(scope="module")
def healthy(client: Client, agents_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentPlace]:
    """A healthy task, done: three tests look at it."""
    with ScriptedModel("healthy") as model:
        place = AgentPlace(tmp_path_factory.mktemp(client.name), client, model, agents_folder, {})
        (place.workspace / "a.txt").write_text("original")
        status, out, err = place.run_agent()
        assert status == 0, (out, err)
        yield place
        place.close()


def test_a_healthy_task_goes_through_unharmed_and_unflagged(healthy: AgentPlace) -> None:
    told = healthy.told()
    assert (healthy.workspace / "a.txt").read_text() == "hello\nworld\n"
    assert (told["status"], told["issues"], told["interventions"]) == ("done", 0, 0), shown(healthy.records("issue"))
    assert [step["tool"]["arguments"]["command"] for step in healthy.steps("tool_call")] == [
        "echo hello > a.txt; cat a.txt",
        "ls",
        "echo world >> a.txt; cat a.txt",
    ]
    results = healthy.steps("tool_result")
    assert ["hello" in step.get("content", "") for step in results] == [True, False, True], shown(results)
    assert not any(step.get("error") for step in results)


def test_tokens_are_counted(healthy: AgentPlace) -> None:
    asked = healthy.model.asked
    assert len(asked) == 4
    expected = sum(max(1, len(request.raw) // 4) + 25 for request in asked)
    assert healthy.told()["tokens"] == pytest.approx(expected, rel=0.02)


def test_a_rollback_restores_what_the_shell_changed(healthy: AgentPlace) -> None:
    first = healthy.records("checkpoint")[0]["id"]
    status, out, err = healthy.interlock("rollback", healthy.folder.run_id, "--to", first, "--yes")
    assert status == 0, (out, err)
    assert (healthy.workspace / "a.txt").read_text() == "original"


def test_a_loop_is_corrected_in_the_next_request(place_for: MakePlace) -> None:
    place = place_for("loop")
    status, out, err = place.run_agent()
    issues, answers = place.records("issue"), place.records("intervention")
    assert issues, (status, out, err)
    assert answers[0]["intervention"]["type"] == "soft_correction", shown(answers)
    (text,) = [directive["message"]["content"] for directive in answers[0]["directives"] if directive["do"] == "inject"]
    heard = [request for request in place.model.asked if text[:60] in request.text.replace("\\n", "\n")]
    assert heard, (text, [request.text[-1500:] for request in place.model.asked[:6]])
    assert heard[0].turn <= answers[0]["intervention"]["step"], "it came late"
    first = issues[0]
    assert (first["type"], first["details"]["count"], heard[0].turn) == ("repetitive_errors", 3, 3), (
        "the same loop on every client"
    )


def test_a_destructive_command_is_denied_and_never_runs(place_for: MakePlace) -> None:
    place = place_for(turns(run("echo one > one.txt"), run(DESTROY), run("cat one.txt"), "Finished."))
    precious = place.home / "precious" / "file.txt"
    precious.parent.mkdir()
    precious.write_text("keep me")
    status, out, err = place.run_agent()
    assert precious.read_text() == "keep me"
    denied = [r for r in place.records("step") if (r.get("decision") or {}).get("action") in ("deny", "stop")]
    assert [r["step"]["tool"]["arguments"]["command"] for r in denied] == [DESTROY], (status, out, err)
    assert status == 0, (out, err)
    assert len(place.model.asked) == 4, "the agent went on"


def test_a_pause_holds_the_next_step_and_resume_lets_it_go(place_for: MakePlace) -> None:
    place = place_for(turns(run("echo 1 >> log"), run("sleep 1; echo 2 >> log"), run("echo 3 >> log"), "Finished."))
    process = place.begin_agent()
    log = place.workspace / "log"
    until("the first command has run", log.exists)
    assert place.order("pause").outcome == "success"
    until("the run is paused", lambda: place.store.runs()[0].status == "paused")
    held = log.read_text()
    until("a step waits", lambda: len(place.steps("tool_result")) == len(held.split()))
    assert log.read_text() == held
    assert len(held.split()) < 3
    assert place.order("resume").outcome == "success"
    out, err = process.communicate(timeout=AGENT_S)
    assert process.returncode == 0, (out, err)
    assert log.read_text() == "1\n2\n3\n"


def test_an_emergency_stop_ends_the_run_and_leaves_no_process(place_for: MakePlace) -> None:
    script = [*turns(run("nohup sleep 300 >/dev/null 2>&1 & echo started")), *turns(run("cat missing.txt")) * 30]
    place = place_for(script, {"interventions": STOP_AT_ONCE})
    status, out, err = place.run_agent()
    told = place.told()
    assert told["reason"] == "EMERGENCY_STOP", (shown(told), shown(place.records("issue")), out, err)
    assert status == 125
    assert place.processes() == []
    assert told["incident_id"]
    assert len(place.steps("tool_call")) < 10


def test_an_agent_told_about_the_limits_goes_on_inside_and_the_person_sees_what_to_allow(place_for: MakePlace) -> None:
    # In the home of whoever runs the tests: what is below a temporary folder may be written anyway.
    outside = Path.home() / f"interlock-test-{os.getpid()}.txt"
    place = place_for(turns(run(f"echo x > {outside}"), run("echo x > notes.txt"), "Finished."))
    try:
        status, out, err = place.run_agent()
        assert status == 0, (out, err)
        assert not outside.exists() and (place.workspace / "notes.txt").read_text() == "x\n"
    finally:
        outside.unlink(missing_ok=True)
    assert "keeps writes inside" in "".join(request.text for request in place.model.asked)
    assert f"refused outside the workspace: {outside} (once); allow: --write {outside}" in err.decode()
