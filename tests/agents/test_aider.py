"""aider, which has no hooks: seen through the proxy, contained like the others. It needs 600 MB, so it is not installed
for the tests; with `uv tool install aider-chat` on PATH these run.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from interlock.contain import why_not
from interlock.demo.model import ScriptedModel, turns

from .clients import AgentPlace, Client

AIDER = shutil.which("aider")
pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(AIDER is None, reason="aider is not on PATH: uv tool install aider-chat"),
]

KEY = "sk-real-" + "k" * 23
# Its prompt holds examples, which count as turns.
EDIT = "Creating.\n\nhello.py\n```python\n<<<<<<< SEARCH\n=======\nprint('hi')\n>>>>>>> REPLACE\n```\n"
QUIET = ("--yes-always", "--no-check-update", "--no-show-release-notes", "--no-analytics", "--no-show-model-warnings",
         "--no-gitignore", "--no-auto-commits", "--no-pretty", "--no-detect-urls")  # fmt: skip


@dataclass(frozen=True)
class Aider(Client):
    name: str = "aider"
    program: str = "aider"

    def command(self, prompt: str) -> list[str]:
        assert AIDER is not None
        return [AIDER, "--model", "openai/gpt-4o", *QUIET, "--message", prompt]

    def environment(self, home: Path, model: ScriptedModel) -> dict[str, str]:
        return {"OPENAI_API_KEY": KEY, "OPENAI_API_BASE": f"{model.url}/v1", "OPENAI_BASE_URL": f"{model.url}/v1"}


@pytest.mark.parametrize("level", ["off", "guard", "fence"])
def test_aider_does_its_task(level: str, tmp_path: Path, record_property: Callable[..., None]) -> None:
    missing = why_not(fenced=level == "fence") if level != "off" else ""
    if missing:
        pytest.skip(missing)
    record_property("agent", f"aider ({level})")
    with ScriptedModel(turns(*[EDIT] * 12)) as model:
        config = {"contain": {"hosts": ["localhost"]}}
        place = AgentPlace(tmp_path, Aider(), model, tmp_path, config)
        subprocess.run(["git", "init", "-q"], cwd=place.workspace, check=True)
        status, out, err = place.run_agent(options=("--contain", level))
        place.close()
    assert status == 0, (out, err)
    assert (place.workspace / "hello.py").read_text() == "print('hi')\n"
    assert place.steps(), "the proxy has seen nothing"
