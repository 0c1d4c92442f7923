"""The whole way in a real terminal: a run that goes on, seen, paused, resumed and cancelled with single keys."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.running import Place

from .terminal import PATIENCE_S, top

AGENT = """
import time
from interlock.adapters.command import Steps

with Steps() as steps:
    for number in range(100_000):
        if steps.before("bash", {"command": f"make part{number}"})["action"] == "stop":
            break
        time.sleep(0.05)
        steps.after(f"part {number} made", exit_code=0)
"""

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.close()


def test_see_a_run_pause_it_resume_it_and_cancel_it(place: Place, tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text(AGENT)
    run = place.start(sys.executable, str(script), options=("--name", "builder"))
    terminal = top(place)
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
