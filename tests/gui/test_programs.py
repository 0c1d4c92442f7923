"""What a session starts ends with it."""

from __future__ import annotations

import threading
from pathlib import Path

import psutil

from interlock.gui.display import Programs, plain_environment, wait_until

SLOW_TO_END = ["sh", "-c", "trap 'sleep 0.5; exit 0' TERM; echo ready; while :; do sleep 0.05; done"]


def test_a_program_that_is_started_while_its_namesake_ends_is_ended_too(tmp_path: Path) -> None:
    programs = Programs(tmp_path)
    first = programs.start("server", SLOW_TO_END, plain_environment())
    assert wait_until(lambda: "ready" in programs.log("server"), 60)
    ending = threading.Thread(target=programs.end, args=("server",))
    ending.start()
    second = programs.start("server", ["sleep", "100"], plain_environment())
    ending.join()
    assert first.poll() is not None
    assert psutil.pid_exists(second.pid)
    programs.end()
    assert second.poll() is not None
