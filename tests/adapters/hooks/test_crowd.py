"""Twenty agents at once under one `interlock serve`, with real hook clients: no hook is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.adapters.hooks.hookclient_build import hook_command
from interlock.journal import Store

AGENTS = 20
CLOSED = ("--before", "--closed")
"""A hook that gets no answer ends with status 2."""


class Serve:
    """The resident supervisor as people start it."""

    def __init__(self, root: Path, runtime: Path) -> None:
        self.root, self.store = root, Store(root / "runs")
        config = root / "interlock.yaml"
        config.write_text(json.dumps({"runtime": {"step_timeout_ms": 30_000}, "store": {"dir": str(self.store.root)}}))
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "XDG_STATE_HOME": str(root / "state")}
        words = [sys.executable, "-m", "interlock", "serve", "--config", str(config), "--json"]
        self.process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self.socket = json.loads(self.process.stdout.readline())["socket"]

    def end(self) -> None:
        self.process.terminate()
        assert self.process.wait(150) == 0
        assert self.process.stdout is not None
        self.process.stdout.close()


class Agent(threading.Thread):
    """Calls one command after the other in a folder of its own, until the time is up."""

    def __init__(self, number: int, serve: Serve, seconds: float) -> None:
        super().__init__()
        self.session, self._serve, self._until = f"agent-{number}", serve, time.monotonic() + seconds
        self._work = serve.root / self.session
        self._work.mkdir()
        self.calls = 0
        self.spent: list[float] = []
        self.lost: list[object] = []

    def run(self) -> None:
        while not self.calls or time.monotonic() < self._until:
            call = {
                "tool_name": "Bash",
                "tool_input": {"command": f"cat part{self.calls}"},
                "tool_use_id": f"{self.session}-{self.calls}",
            }
            self._hook("PreToolUse", **call)
            self._hook("PostToolUse", **call, tool_response={"stdout": f"line {self.calls}", "stderr": ""})
            self.calls += 1

    def _hook(self, event: str, **more: Any) -> None:
        payload = {"session_id": self.session, "cwd": str(self._work), "hook_event_name": event, **more}
        words = [*hook_command(), *CLOSED, "--socket", self._serve.socket, "claude-code"]
        begin = time.perf_counter()
        done = subprocess.run(words, input=json.dumps(payload).encode(), capture_output=True, check=False)
        self.spent.append((time.perf_counter() - begin) * 1000)
        if done.returncode or json.loads(done.stdout) != {}:
            self.lost.append(done)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    # Short: a socket's path has at most 108 bytes.
    with tempfile.TemporaryDirectory(prefix="il-") as short:
        made = Serve(tmp_path, Path(short))
        yield made
        if made.process.poll() is None:
            made.end()


def crowd(serve: Serve, seconds: float) -> list[float]:
    """What each hook took, in order; every one was answered and is in the journal of its run."""
    agents = [Agent(number, serve, seconds) for number in range(AGENTS)]
    for agent in agents:
        agent.start()
    for agent in agents:
        agent.join()
    assert [agent.lost for agent in agents] == [[]] * AGENTS
    serve.end()
    steps = {run.name: run.steps for run in serve.store.runs()}
    assert steps == {f"claude-code {agent.session}": 2 * agent.calls for agent in agents}
    return sorted(one for agent in agents for one in agent.spent)


def test_twenty_agents_with_real_clients_lose_no_hook(serve: Serve) -> None:
    assert crowd(serve, 0.1)


@pytest.mark.torture
def test_twenty_agents_for_a_minute(serve: Serve, record_property: pytest.RecordProperty) -> None:
    spent = crowd(serve, 60.0)
    p99 = spent[int(len(spent) * 0.99) - 1]
    print(
        f"{len(spent)} hooks, 0 lost, median {spent[len(spent) // 2]:.1f} ms, p99 {p99:.1f} ms, most {spent[-1]:.1f} ms"
    )
    record_property("p99 ms", round(p99, 1))
