"""Real agents that have no hooks, or are not told of us, behind the model proxy: their SDKs read what we write."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.demo.model import ScriptedModel, run, turns
from interlock.demo.model.script import Scripts

from .clients import AgentPlace, ClaudeCode, Client, Codex, Gemini, until
from .frameworks import FRAMEWORKS, PATIENCE_S, Framework, Program

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]

PROGRAMS = Path(__file__).parent / "programs"
ANTHROPIC = Framework("anthropic", frozenset(), ("claude-haiku-4-5", "claude-opus-5-5"))
BY_NAME = {framework.name: framework for framework in FRAMEWORKS}


class Proxied(Program):
    """A program under `interlock run`, which it does not know of."""

    def __init__(self, root: Path, kind: str, script: Scripts, config: dict[str, Any] | None = None) -> None:
        framework, self._words = KINDS[kind]
        super().__init__(root, framework, script, config)

    def whole_run(self) -> tuple[int, bytes, bytes]:
        python = sys.executable if self.framework is ANTHROPIC else self.framework.python()
        name, *words = self._words
        process = self.begin(self.command(python, str(PROGRAMS / name), *words, "Do the task."))
        out, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out, err

    def calls(self) -> list[str]:
        steps = [record["step"] for record in self.records("step")]
        return [step["tool"]["arguments"]["command"] for step in steps if step.get("kind") == "tool_call"]


KINDS = {
    "anthropic": (ANTHROPIC, ("plain_anthropic.py",)),
    "openai-agents-responses": (BY_NAME["openai-agents"], ("plain_openai.py", "responses")),
    "openai-agents-chat": (BY_NAME["openai-agents"], ("plain_openai.py", "chat_completions")),
    "mini-swe-agent": (BY_NAME["mini-swe-agent"], ("plain_mini.py",)),
}
Make = Callable[..., Proxied]


@pytest.fixture(params=list(KINDS))
def proxied(
    request: pytest.FixtureRequest, tmp_path: Path, record_property: Callable[[str, object], None]
) -> Iterator[Make]:
    record_property("agent", f"{request.param} (proxy)")
    made: list[Proxied] = []

    def make(script: Scripts, config: dict[str, Any] | None = None) -> Proxied:
        made.append(Proxied(tmp_path, request.param, script, config))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_healthy_task_goes_through_and_is_counted(proxied: Make) -> None:
    here = proxied("healthy")
    status, out, err = here.whole_run()
    assert (status, out.strip()) == (0, b"All finished."), err
    told = here.told()
    assert (told["issues"], told["interventions"]) == (0, 0)
    assert told["tokens"] > 0
    assert "ls" in here.calls()


def test_a_destructive_command_is_denied_and_the_sdk_reads_what_follows(proxied: Make) -> None:
    here = proxied("destructive")
    (here.home / "victim").mkdir()
    status, out, err = here.whole_run()
    assert (status, out.strip()) == (0, b"Finished."), err
    assert (here.home / "victim").is_dir()
    assert (here.workspace / "one.txt").read_text() == "one\n"
    assert "Interlock blocked this call" in here.model.asked[-1].text


def test_a_loop_is_corrected_in_the_models_next_request(proxied: Make) -> None:
    here = proxied("loop", {"limits": {"max_steps": 6}})
    here.whole_run()
    words = [one["directive"]["message"]["content"] for one in here.records("applied") if "message" in one["directive"]]
    assert words and words[0].splitlines()[0] in here.model.asked[-1].text


def test_a_client_with_hooks_gets_another_model_through_the_proxy(
    agents_folder: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    record_property("agent", "claude-code (hooks and proxy)")
    waits = "touch one; while [ ! -e go ]; do sleep 0.05; done"
    with ScriptedModel(turns(run(waits), run("echo two"), "Finished.")) as model:
        place = AgentPlace(tmp_path, ClaudeCode(), model, agents_folder, {})
        process = place.begin_agent()
        until("the first command runs", (place.workspace / "one").exists)
        assert place.order("escalate", {"model": "claude-opus-4-5"}).outcome == "success"
        (place.workspace / "go").touch()
        out, err = process.communicate(timeout=PATIENCE_S)
        place.close()
    assert process.returncode == 0, (out, err)
    models = [request.model for request in model.asked]
    assert models[0].startswith("claude-sonnet") and models[-1] == "claude-opus-4-5"
    calls = place.steps("tool_call")
    assert len(calls) == 2, "told by the hooks, and by them alone"


@pytest.mark.parametrize("client", (ClaudeCode(), Codex(), Gemini()), ids=lambda client: client.name)
def test_a_client_with_hooks_goes_back_to_a_checkpoint_through_the_proxy(
    client: Client, agents_folder: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    record_property("agent", f"{client.name} (hooks and proxy)")
    waits = "touch two; while [ ! -e ../go ]; do sleep 0.05; done"
    script = turns(run("echo zero > zero.txt"), run("echo one > one.txt"), run(waits), "Finished.")
    with ScriptedModel(script) as model:
        place = AgentPlace(tmp_path, client, model, agents_folder, {})
        process = place.begin_agent(options=("--proxy",))
        until("the third command runs", (place.workspace / "two").exists)
        second = place.steps("tool_call")[1]["index"]
        before = [one["id"] for one in place.records("checkpoint") if one["step"] <= second][-1]
        assert place.order("rollback", {"to": before}).outcome == "success"
        assert (place.workspace / "zero.txt").exists() and not (place.workspace / "one.txt").exists()
        (tmp_path / "go").touch()
        out, err = process.communicate(timeout=PATIENCE_S)
        place.close()
    assert process.returncode == 0, (out, err)
    assert [request.turn for request in model.asked] == [0, 1, 2, 1, 2, 3]
    assert "one.txt" not in model.asked[3].text and "zero.txt" in model.asked[3].text
    assert (place.workspace / "one.txt").read_text() == "one\n", "done again"
