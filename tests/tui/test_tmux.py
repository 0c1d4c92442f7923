"""The whole way in a real terminal: a run that goes on, seen, paused, resumed and cancelled with single keys."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.running import Place

PATIENCE_S = 60.0
COLUMNS, ROWS = 100, 30

AGENT = """
import time
from interlock.adapters.process import Steps

with Steps() as steps:
    for number in range(100_000):
        if steps.before("bash", {"command": f"make part{number}"})["action"] == "stop":
            break
        time.sleep(0.05)
        steps.after(f"part {number} made", exit_code=0)
"""

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Terminal:
    """One tmux server with one window; `text` is what a person sees in it."""

    def __init__(self, socket: Path, words: list[str], environment: dict[str, str]) -> None:
        self._tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
        command = f"exec env {' '.join(shlex.quote(f'{k}={v}') for k, v in environment.items())} {shlex.join(words)}"
        subprocess.run(
            [*self._tmux, "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), command],
            check=True,
            env={**os.environ, "TERM": "xterm-256color"},
        )

    @property
    def text(self) -> str:
        done = subprocess.run([*self._tmux, "capture-pane", "-p"], capture_output=True, text=True, check=False)
        return done.stdout

    @property
    def alive(self) -> bool:
        return subprocess.run([*self._tmux, "has-session"], capture_output=True, check=False).returncode == 0

    def press(self, *keys: str) -> None:
        subprocess.run([*self._tmux, "send-keys", *keys], check=True)

    def sees(self, *words: str) -> str:
        return self.until(lambda text: all(word in text for word in words), f"{words}")

    def until(self, is_so: Callable[[str], bool], what: str) -> str:
        deadline = time.monotonic() + PATIENCE_S
        while not is_so(text := self.text):
            assert time.monotonic() < deadline, f"never: {what}\n{text}"
            time.sleep(0.1)
        return text

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.close()


def test_see_a_run_pause_it_resume_it_and_cancel_it(place: Place, tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text(AGENT)
    run = place.start(sys.executable, str(script), options=("--name", "builder"))
    wanted = ("PYTHONPATH", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "PATH", "HOME", "LANG")
    environment = {name: place.environment[name] for name in wanted if name in place.environment}
    environment |= {"INTERLOCK_STORE__DIR": str(place.store.root), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    terminal = Terminal(tmp_path / "tmux", [sys.executable, "-m", "interlock", "top"], environment)
    try:
        terminal.sees("builder", "● running")
        terminal.press("Enter")
        terminal.sees("1 Timeline", "bash make part", "made")

        terminal.press("p")
        seen_at = terminal.until(lambda text: "‖ paused" in text, "paused")
        # Paused is on the screen: so the journal has had the RESULT before.
        results = place.records("result")
        assert [result["payload"]["status"] for result in results] == ["success"], seen_at
        assert place.records("ack")
        steps = len(place.records("step"))
        terminal.press("4")
        terminal.sees("pause", "✓ ", "‖ paused", "at iteration")
        assert len(place.records("step")) <= steps + 1

        terminal.press("r")
        terminal.sees("● running", "resume")
        terminal.until(lambda _: len(place.records("step")) > steps + 2, "it goes on")

        terminal.press("c")
        terminal.sees("Cancel builder?", "Keep it")
        terminal.press("Enter")
        terminal.until(lambda text: "Cancel builder?" not in text, "the question is gone")
        assert run.poll() is None
        terminal.press("c")
        terminal.sees("Cancel builder?")
        terminal.press("y")
        terminal.sees("✗ cancelled by you", "cancel")
        assert run.wait(PATIENCE_S) == 130

        terminal.press("q")
        terminal.until(lambda _: not terminal.alive, "top has ended")
    finally:
        terminal.close()
