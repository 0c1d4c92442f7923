"""Many runs that are asked at once for a destructive first call, on a machine that has no time: none is let through."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

AGENT = """
import os, sys, time
from interlock.adapters.steps.client import Steps
steps = Steps()
print("ready", flush=True)
sys.stdin.readline()
answer = steps.before("bash", {"command": "rm -rf $HOME /srv"})
print(answer["action"], answer.get("reason", ""), flush=True)
"""

LET_THROUGH = frozenset(("proceed", "allow", "warn", "rewrite"))


def ask_at_once(root: Path, runs: int, busy: int, fail: str) -> list[str]:
    """What each run answers to its first call, all asked in the same moment beside busy loops."""
    spinning: list[subprocess.Popen[bytes]] = []
    started: list[subprocess.Popen[str]] = []
    try:
        for number in range(runs):
            place = root / str(number)
            (place / "w").mkdir(parents=True)
            environment = {
                **{name: value for name, value in os.environ.items() if not name.startswith("INTERLOCK")},
                "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
                "XDG_STATE_HOME": str(root / "state"),
                "XDG_CONFIG_HOME": str(root / "config"),
                "INTERLOCK_RUNTIME__FAIL": fail,
            }
            options = ["--no-checkpoints", "--contain", "off"]
            words = [sys.executable, "-m", "interlock", "run", *options, "--", sys.executable, "-c", AGENT]
            started.append(
                subprocess.Popen(
                    words,
                    cwd=place / "w",
                    env=environment,
                    text=True,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
            )
        for run in started:
            assert run.stdout is not None
            assert run.stdout.readline() == "ready\n"
        spinning += [
            subprocess.Popen([sys.executable, "-c", "print(flush=True)\nwhile True: pass"], stdout=subprocess.PIPE)
            for _ in range(busy)
        ]
        for loop in spinning:
            assert loop.stdout is not None
            assert loop.stdout.readline()
        for run in started:
            assert run.stdin is not None
            run.stdin.write("go\n")
            run.stdin.flush()
        answers = []
        for run in started:
            assert run.stdout is not None
            answers.append(run.stdout.readline().strip())
        return answers
    finally:
        for process in (*spinning, *started):
            process.kill() if process in spinning else process.terminate()
        for process in (*spinning, *started):
            process.communicate()


def let_through(answers: list[str]) -> list[str]:
    return [answer for answer in answers if not answer or answer.split()[0] in LET_THROUGH]


def test_a_destructive_first_call_is_let_through_by_no_run_of_many(tmp_path: Path) -> None:
    answers = ask_at_once(tmp_path, runs=3, busy=4, fail="open")
    assert len(answers) == 3
    assert let_through(answers) == []


@pytest.mark.torture
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("turn", range(20))
def test_a_hundred_runs_at_load_thirty(tmp_path: Path, turn: int) -> None:
    answers = ask_at_once(tmp_path, runs=100, busy=30, fail="open")
    assert len(answers) == 100
    assert let_through(answers) == []
