"""`interlock run` before an agent without hooks: its base URL leads to our proxy, and everything else follows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.config.llm_models import ship
from interlock.demo.model import ModelRequest, ScriptedModel, ScriptedTurn, Scripts, run, turns

from ..adapters.proxy.agent import KEY
from .running import Place, finish, owners, until

AGENT = str(Path(__file__).parents[1] / "adapters" / "proxy" / "agent.py")


class Scene:
    """A place whose agent finds a scripted model at the addresses in its environment."""

    def __init__(self, place: Place, model: ScriptedModel) -> None:
        self.place, self.model = place, model

    def start(self, api: str, *, options: tuple[str, ...] = (), keys: bool = False) -> subprocess.Popen[bytes]:
        base = self.model.url
        addresses = {"ANTHROPIC_BASE_URL": base, "OPENAI_BASE_URL": f"{base}/v1", "GOOGLE_GEMINI_BASE_URL": base}
        words = self.place.command(sys.executable, AGENT, api, "--stream", "Do the work.", options=options)
        environment = {**self.place.environment, **addresses, "HOME": str(self.place.root)}
        given: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(words, cwd=self.place.workspace, env=environment, **given)
        self.place._begun.append(process)
        return process


@pytest.fixture
def scene_with(place_with: Callable[..., Place]) -> Iterator[Callable[..., Scene]]:
    made: list[ScriptedModel] = []

    def make(scripts: Scripts, config: dict[str, Any] | None = None) -> Scene:
        made.append(ScriptedModel(scripts).start())
        return Scene(place_with(config), made[-1])

    yield make
    for model in made:
        model.close()


Make = Callable[..., Scene]


@pytest.mark.parametrize("api", ["anthropic", "chat", "gemini"])
def test_an_agent_without_hooks_is_supervised_by_its_traffic(scene_with: Make, api: str) -> None:
    scene = scene_with("healthy")
    status, out, err = finish(scene.start(api))
    assert (status, out) == (0, b"All finished.\n"), err
    told = scene.place.told()
    assert (told["reason"], told["issues"], told["interventions"]) == ("COMPLETE", 0, 0)
    assert told["tokens"] > 0 and told["files_changed"] == ["a.txt"]
    calls = [
        one["step"]["tool"]["arguments"]
        for one in scene.place.records("step")
        if one["step"].get("kind") == "tool_call"
    ]
    assert [call["command"] for call in calls][1] == "ls"
    kept = b"".join(path.read_bytes() for path in scene.place.root.rglob("*") if path.is_file())
    assert KEY.encode() not in kept and KEY.encode() not in out + err


def test_a_destructive_command_is_denied_and_never_runs(scene_with: Make) -> None:
    scene = scene_with("destructive")
    victim = scene.place.root / "victim"
    victim.mkdir()
    status, out, err = finish(scene.start("anthropic"))
    assert (status, out) == (0, b"Finished.\n"), err
    assert victim.is_dir()
    assert "Interlock blocked this call" in scene.model.asked[-1].text


def test_a_loop_is_corrected_in_the_models_next_request(scene_with: Make) -> None:
    scene = scene_with("loop", {"interventions": {"max_interventions_per_execution": 1000}})
    run = scene.start("chat", options=("--max-steps", "6"))
    assert finish(run)[0] == 124
    words = [
        one["directive"]["message"]["content"]
        for one in scene.place.records("applied")
        if "message" in one["directive"]
    ]
    assert words and words[0].splitlines()[0] in scene.model.asked[-1].text


def test_a_pause_holds_the_next_request_and_escalate_switches_the_model(scene_with: Make) -> None:
    scene = scene_with(turns(run("touch one; while [ ! -e go ]; do sleep 0.02; done"), run("touch two"), "Done."))
    running = scene.start("anthropic")
    scene.place.wait_for("one")
    pausing = scene.place.begin_pause()
    (scene.place.workspace / "go").touch()
    assert finish(pausing)[0] == 0
    until("the step that was under way is over", lambda: scene.place.store.runs()[0].status == "paused")
    assert len(scene.model.requests) == 1
    assert scene.place.order("escalate", {"model": "opus", "force": True}).outcome == "success"
    scene.place.order("resume")
    assert finish(running)[0] == 0
    opus = ship().aliases["opus"]
    assert [request.model for request in scene.model.asked] == ["m-1", opus, opus]


def test_when_the_owner_is_killed_the_next_one_goes_on_with_the_proxy(scene_with: Make) -> None:
    killed: list[int] = []

    def answer(request: ModelRequest) -> ScriptedTurn:
        if request.turn == 2 and not killed:
            killed.extend(owners(scene.place))
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
        return ScriptedTurn(calls=(run(f"echo {request.turn} >> out"),)) if request.turn < 5 else ScriptedTurn("Done.")

    scene = scene_with(answer)
    status, out, err = finish(scene.start("anthropic"))
    assert (status, out) == (0, b"Done.\n"), err
    assert killed
    assert (scene.place.workspace / "out").read_text().split() == ["0", "1", "2", "3", "4"]
    steps = [one["step"] for one in scene.place.records("step")]
    results = [step["tool"]["call_id"] for step in steps if step.get("kind") == "tool_result"]
    # What came within a tenth of a second before the kill was not on the disk yet.
    assert len(results) == len(set(results)) >= 4


def test_when_no_owner_can_be_had_the_agent_still_reaches_its_model(scene_with: Make) -> None:
    killed: set[int] = set()
    script = "touch waiting; while [ ! -e go ]; do sleep 0.05; done"
    scene = scene_with(turns(run(script), run("touch two"), "Done."))
    running = scene.start("anthropic")
    scene.place.wait_for("waiting")

    def given_up() -> bool:
        for pid in owners(scene.place):
            if pid not in killed:
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        return bool(owners(scene.place, b"interlock.adapters.proxy.passthrough"))

    until("the front has given up", given_up)
    (scene.place.workspace / "go").touch()
    status, out, err = finish(running)
    assert (status, out) == (0, b"Done.\n"), err
    assert b"supervision was lost" in err
    assert owners(scene.place, b"interlock.adapters.proxy.passthrough") == []


def test_a_request_that_is_held_stays_held_when_the_owner_dies(scene_with: Make) -> None:
    waits = "touch one; while [ ! -e go ]; do sleep 0.02; done"
    scene = scene_with(turns(run(waits), run("touch two"), "Done."))
    running = scene.start("anthropic")
    scene.place.wait_for("one")
    pausing = scene.place.begin_pause()
    (scene.place.workspace / "go").touch()
    assert finish(pausing)[0] == 0
    (first,) = owners(scene.place)
    os.kill(first, signal.SIGKILL)
    until("there is another owner", lambda: (found := scene.place.folder.owner()) is not None and found.pid != first)
    assert len(scene.model.requests) == 1
    assert scene.place.order("resume").outcome == "success"
    assert finish(running)[0] == 0
    assert (scene.place.workspace / "two").exists()
