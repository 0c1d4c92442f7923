"""The command-line agents as tests start them: offline, before a scripted model, with a home of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock.demo.model import ScriptedModel

from ..e2e.running import Place


@dataclass(frozen=True)
class Client:
    """One client: how it is called, and what makes it talk to nobody but the scripted model."""

    name: str
    program: str

    def command(self, prompt: str) -> list[str]:
        raise NotImplementedError

    def environment(self, home: Path, model: ScriptedModel) -> dict[str, str]:
        """Prepare the home, and say where the model is."""
        raise NotImplementedError

    def version(self, folder: Path, home: Path) -> str:
        """What the client says that it is."""
        done = subprocess.run(
            [str(folder / "bin" / self.program), "--version"],
            env={"PATH": os.environ["PATH"], "HOME": str(home)},
            capture_output=True,
            text=True,
            check=True,
        )
        found = re.search(r"\d+(\.\d+)+", done.stdout)
        assert found, done
        return found[0]


@dataclass(frozen=True)
class ClaudeCode(Client):
    name: str = "claude-code"
    program: str = "claude"

    def command(self, prompt: str) -> list[str]:
        options = ("--allowedTools", "Bash Read Write Edit Agent", "--output-format", "json")
        return ["claude", "-p", prompt, "--model", "claude-sonnet-4-5", *options]

    def environment(self, home: Path, model: ScriptedModel) -> dict[str, str]:
        return {
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
        }


@dataclass(frozen=True)
class Codex(Client):
    name: str = "codex"
    program: str = "codex"

    def command(self, prompt: str) -> list[str]:
        return [
            "codex",
            "exec",
            "--json",
            "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox",
            prompt,
        ]

    def environment(self, home: Path, model: ScriptedModel) -> dict[str, str]:
        folder = home / ".codex"
        folder.mkdir(exist_ok=True)
        (folder / "config.toml").write_text(
            f"""model = "gpt-5-codex"
model_provider = "loop"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.loop]
name = "loop"
base_url = "{model.url}/v1"
wire_api = "responses"
env_key = "LOOP_KEY"
request_max_retries = 1
stream_max_retries = 1
"""
        )
        return {"CODEX_HOME": str(folder), "LOOP_KEY": "dummy"}


@dataclass(frozen=True)
class Gemini(Client):
    name: str = "gemini"
    program: str = "gemini"

    def command(self, prompt: str) -> list[str]:
        options = ("--approval-mode", "yolo", "--output-format", "json")
        return ["gemini", "-m", "gemini-2.5-pro", *options, "-p", prompt]

    def environment(self, home: Path, model: ScriptedModel) -> dict[str, str]:
        folder = home / ".gemini"
        folder.mkdir(exist_ok=True)
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "telemetry": {"enabled": False},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False},
        }
        (folder / "settings.json").write_text(json.dumps(settings))
        return {
            "GEMINI_API_KEY": "dummy",
            "GOOGLE_GEMINI_BASE_URL": model.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }


@dataclass(frozen=True)
class Opencode(Client):
    name: str = "opencode"
    program: str = "opencode"

    def command(self, prompt: str) -> list[str]:
        return ["opencode", "run", "--format", "json", prompt]

    def environment(self, home: Path, model: ScriptedModel) -> dict[str, str]:
        config = {
            "autoupdate": False,
            "share": "disabled",
            "model": "loop/m1",
            "small_model": "loop/m1",
            "enabled_providers": ["loop"],
            "provider": {
                "loop": {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "loop",
                    "options": {"baseURL": f"{model.url}/v1", "apiKey": "dummy"},
                    "models": {"m1": {"name": "m1"}, "m2": {"name": "m2"}},
                }
            },
            "permission": {"*": "allow", "bash": "allow", "edit": "allow"},
        }
        (home / "opencode.json").write_text(json.dumps(config))
        return {"OPENCODE_CONFIG": str(home / "opencode.json"), "OPENCODE_DISABLE_MODELS_FETCH": "1"}


CLIENTS: tuple[Client, ...] = (ClaudeCode(), Codex(), Gemini(), Opencode())


class AgentPlace(Place):
    """A place whose runs are those of one client."""

    def __init__(self, root: Path, client: Client, model: ScriptedModel, folder: Path, config: dict[str, Any]) -> None:
        # Also as root in a container, where these tests mostly run.
        super().__init__(root, {**config, "contain": {"files": "workspace", **config.get("contain", {})}})
        self.client, self.model = client, model
        self.home = root / "home"
        self.home.mkdir(exist_ok=True)
        self._folder = folder
        self._given = client.environment(self.home, model)

    @property
    def environment(self) -> dict[str, str]:
        path = os.pathsep.join((str(self._folder / "bin"), "/usr/local/bin", "/usr/bin", "/bin"))
        ours = {key: value for key, value in super().environment.items() if key in OURS}
        return {**ours, "HOME": str(self.home), "PATH": path, "TERM": "dumb", **NO_PACKAGES, **self._given}

    def begin_agent(self, script: str = "", options: tuple[str, ...] = (), **more: Any) -> subprocess.Popen[bytes]:
        """Start the client on a script of the model."""
        mark = f"[[script:{script}]] " if script else ""
        return self.start(*self.client.command(f"{mark}go on"), options=options, **more)

    def run_agent(self, script: str = "", options: tuple[str, ...] = ()) -> tuple[int, bytes, bytes]:
        """The client's whole run: status, stdout, stderr."""
        process = self.begin_agent(script, options)
        out, err = process.communicate(timeout=AGENT_S)
        return process.returncode, out, err

    def steps(self, kind: str = "") -> list[dict[str, Any]]:
        """The steps that the run recorded."""
        return [r["step"] for r in self.records("step") if not kind or r["step"].get("kind") == kind]


AGENT_S = 150.0
NO_PACKAGES = {"npm_config_registry": "http://127.0.0.1:9", "npm_config_fetch_retries": "0"}
"""Nothing is fetched while an agent runs."""

OURS = frozenset(
    ("PYTHONPATH", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "LANG", "LC_ALL")
)


def until(what: str, is_so: Callable[[], object], patience_s: float = AGENT_S) -> None:
    """Wait for something that a client does; some take their time to start."""
    deadline = time.monotonic() + patience_s
    while not is_so():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.05)


def shown(value: object) -> str:
    """For assertion messages."""
    return json.dumps(value, indent=1, default=str)[:4000]
