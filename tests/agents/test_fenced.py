"""The real clients in a fence: a task in the workspace is done, with a worthless key and no other way out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.contain import why_not
from interlock.demo.model import ScriptedModel, run, turns

from .clients import CLIENTS, AgentPlace, Client

pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(bool(why_not(fenced=True)), reason=f"no fence here: {why_not(fenced=True)}"),
]

KEYS = {"claude-code": "ANTHROPIC_API_KEY", "codex": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY",
        "opencode": "OPENAI_API_KEY"}  # fmt: skip
KEY = "sk-real-" + "k" * 23
TASK = turns(
    run("echo hello > a.txt; cat a.txt"),
    # What plainly writes outside is refused before it runs.
    run(
        "env > env.txt; python3 -c \"import os; open(os.environ['HO' + 'ME'] + '/outside', 'w')\" 2> refused.txt; "
        "curl -sS -m 5 https://example.test 2>> refused.txt; true"
    ),
    "Finished.",
)


class FencedPlace(AgentPlace):
    """The client's model is named by the environment, as it is for people."""

    @property
    def environment(self) -> dict[str, str]:
        names = {key: value for key, value in super().environment.items() if key != "LOOP_KEY"}
        openai = {"OPENAI_BASE_URL": f"{self.model.url}/v1"} if self.client.name in ("codex", "opencode") else {}
        return {**names, **openai, KEYS[self.client.name]: KEY}

    def prepare(self) -> None:
        codex, opencode = self.home / ".codex/config.toml", self.home / "opencode.json"
        if codex.exists():
            codex.write_text(codex.read_text().replace("LOOP_KEY", "OPENAI_API_KEY"))
        if opencode.exists():
            config = json.loads(opencode.read_text())
            options = {"baseURL": "{env:OPENAI_BASE_URL}", "apiKey": "{env:OPENAI_API_KEY}"}
            config["provider"]["loop"]["options"] = options
            opencode.write_text(json.dumps(config))
        for name in (".local/share/opencode", ".local/state/opencode", ".cache", ".gemini", ".claude"):
            (self.home / name).mkdir(parents=True, exist_ok=True)


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_a_client_does_its_task_in_a_fence(
    client: Client, agents_folder: Path, tmp_path: Path, record_property: Callable[..., None]
) -> None:
    record_property("agent", f"{client.name} (fence)")
    with ScriptedModel(TASK) as model:
        place = FencedPlace(tmp_path, client, model, agents_folder, {"contain": {"hosts": ["localhost"]}})
        place.prepare()
        status, out, err = place.run_agent(options=("--contain", "fence"))
        place.close()
    assert status == 0, (out, err)
    assert (place.workspace / "a.txt").read_text() == "hello\n"
    assert not (place.home / "outside").exists()
    assert "Read-only" in (place.workspace / "refused.txt").read_text()
    assert KEY not in (place.workspace / "env.txt").read_text()
    assert len(place.steps("tool_call")) == 2
    assert ("example.test", 443) in {(one["host"], one["port"]) for one in place.records("fence")}
