"""Real frameworks, offline: the example of each, run by its own Python against a scripted model."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from interlock.adapters.inprocess.adapter import (
    CLAUDE_AGENT_SDK,
    LANGCHAIN,
    MINI_SWE_AGENT,
    OPENAI_AGENTS,
    PYDANTIC_AI,
    SMOLAGENTS,
)
from interlock.core import Capability
from interlock.demo.model import ScriptedModel
from interlock.demo.model.script import Scripts
from tests.e2e.running import Place

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120.0


class Framework(Struct, frozen=True):
    """One framework: the name of its lock and of its example, what it can do, and a weak and a strong model."""

    name: str
    capabilities: frozenset[Capability]
    models: tuple[str, str] = ("gpt-5-mini", "gpt-5")

    @property
    def example(self) -> Path:
        return ROOT / "examples" / self.name / "agent.py"

    @property
    def version(self) -> str:
        """What its lock pins."""
        lock = (ROOT / "requirements" / "agents" / f"{self.name}.lock").read_text()
        found = re.search(rf"^{PACKAGES.get(self.name, self.name)}==(\S+)", lock, re.MULTILINE)
        assert found, self.name
        return found[1]

    def python(self) -> str:
        return _python(self.name)


PACKAGES = {"pydantic-ai": "pydantic-ai-slim"}
"""Frameworks whose package has another name."""

FRAMEWORKS = (
    Framework("langchain", LANGCHAIN),
    Framework("openai-agents", OPENAI_AGENTS),
    Framework("claude-agent-sdk", CLAUDE_AGENT_SDK, ("claude-haiku-4-5", "claude-opus-5-5")),
    Framework("pydantic-ai", PYDANTIC_AI),
    Framework("mini-swe-agent", MINI_SWE_AGENT),
    Framework("smolagents", SMOLAGENTS),
)


@cache
def _python(name: str) -> str:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "install-frameworks", name], capture_output=True, text=True, check=True
    )
    return done.stdout.split()[1]


class Program(Place):
    """One program with an agent in it: a workspace, a store, a home, and the model that it talks to."""

    def __init__(self, root: Path, framework: Framework, script: Scripts, config: dict[str, Any] | None = None) -> None:
        super().__init__(root, config)
        self.framework = framework
        self.model = ScriptedModel(script).start()
        (root / "config" / "interlock").mkdir(parents=True)
        (root / "config" / "interlock" / "interlock.yaml").write_text(self.config.read_text())
        self.home = root / "home"
        self.home.mkdir()
        (self.home / "diary.txt").write_text("dear diary\n")

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT / "src"),
            "XDG_STATE_HOME": str(self.root / "state"),
            "XDG_CONFIG_HOME": str(self.root / "config"),
            "XDG_RUNTIME_DIR": str(self.root / "run"),
            "INTERLOCK_STORE__DIR": str(self.store.root),
            "OPENAI_BASE_URL": f"{self.model.url}/v1",
            "OPENAI_API_KEY": "dummy",
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "dummy",
            "MODEL": self.framework.models[0],
            # No questions to the world outside: prices, updates, telemetry.
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "MSWEA_SILENT_STARTUP": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

    def launch(self, task: str = "do the task") -> subprocess.Popen[bytes]:
        return self.begin([self.framework.python(), str(self.framework.example), task])

    def wait_for(self, name: str) -> None:
        """Wait until the agent has made this file; a framework may take its time to be imported."""
        deadline = time.monotonic() + PATIENCE_S
        while not (self.workspace / name).exists():
            assert self._begun[-1].poll() is None, self._begun[-1].communicate()
            assert time.monotonic() < deadline, f"never: {name} is there"
            time.sleep(0.02)

    def whole(self, task: str = "do the task") -> tuple[int, str, str]:
        """From start to end: exit status, what it printed, what it complained about."""
        return self.end(self.launch(task))

    def end(self, process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
        out, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out.decode(), err.decode()

    def close(self) -> None:
        super().close()
        self.model.close()
