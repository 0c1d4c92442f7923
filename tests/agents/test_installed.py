"""Installed hooks and `interlock serve`, with the real clients: supervised without `interlock run`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.demo.model import ScriptedModel, run, turns

from .clients import AGENT_S, CLIENTS, AgentPlace, Client

pytestmark = pytest.mark.agents

DESTROY = "rm -rf ~/precious"


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_an_installed_agent_is_supervised_by_serve(
    client: Client, agents_folder: Path, tmp_path: Path, record_property: Callable[..., None]
) -> None:
    record_property("agent", client.name)
    record_property("version", client.version(agents_folder, tmp_path))
    script = turns(run("echo one > one.txt"), run(DESTROY), run("echo two > two.txt"), "Finished.")
    with ScriptedModel(script) as model:
        place = AgentPlace(tmp_path, client, model, agents_folder, {})
        (place.home / "precious").mkdir()
        command = [sys.executable, "-m", "interlock"]
        installed = subprocess.run([*command, "install", client.name, "--yes"], env=place.environment, check=True)
        assert installed.returncode == 0
        words = [*command, "serve", "--config", str(place.config), "--json"]
        serve = subprocess.Popen(words, env=place.environment, stdout=subprocess.PIPE)
        try:
            assert serve.stdout is not None
            assert "socket" in json.loads(serve.stdout.readline())
            done = subprocess.run(
                client.command("go on"),
                cwd=place.workspace,
                env=place.environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=AGENT_S,
                check=False,
            )
        finally:
            serve.terminate()
            serve.wait()
            if serve.stdout is not None:
                serve.stdout.close()
        assert done.returncode == 0, done
        assert (place.home / "precious").exists(), done
        assert (place.workspace / "two.txt").exists(), done
        commands = [step["tool"]["arguments"]["command"] for step in place.steps("tool_call")]
        assert commands == ["echo one > one.txt", DESTROY, "echo two > two.txt"]
        assert place.store.runs()[0].tokens > 0
        assert os.environ.get("INTERLOCK_SOCKET") is None
        place.close()
