"""A scan on several cores says what a scan on one core says, in the same order."""

import json
import os
import random
import signal
import subprocess
import sys

import pytest

from interlock.adapters.traces.parallel import ParallelScanner
from interlock.adapters.traces.scan import TraceScanner
from interlock.config import Config
from interlock.core import BadInput, InterlockError


def pair(number, repeats=1):
    call = {"name": "bash", "arguments": {"command": f"pytest -q {number}"}}
    steps = []
    for _ in range(repeats):
        steps += [{"role": "assistant", "content": "again", "tool": call}]
        steps += [{"role": "tool", "content": "E assert 1 == 2\n1 failed", "error": True}]
    return steps


def whole(number):
    return json.dumps({"trace_id": f"whole-{number}", "task": "fix it", "steps": pair(number, number % 7)})


def transcript(number, session):
    message = {"role": "user", "content": f"do {number}"}
    line = {"type": "user", "message": message}
    return json.dumps(line | ({"sessionId": session} if session else {}))


def mixed_lines(seed, count=400):
    """Every kind of line, interleaved as no orderly writer would."""
    chance = random.Random(seed)
    for number in range(count):
        kind = chance.choice(["whole", "step", "step", "nameless step", "transcript", "broken", "blank"])
        if kind == "whole":
            yield whole(number)
        elif kind == "step":
            run = f"run-{chance.randrange(6)}"
            yield json.dumps({"run_id": run, **chance.choice(pair(number % 3))})
        elif kind == "nameless step":
            yield json.dumps(chance.choice(pair(1)))
        elif kind == "transcript":
            yield transcript(number, chance.choice(["", "session-a", "session-b"]))
        else:
            yield "{broken" if kind == "broken" else "  "


def results_of(scanner, files):
    found = [(name, str(result) if isinstance(result, BadInput) else result) for name, result in scanner.scan(files)]
    return found, scanner.steps


@pytest.mark.parametrize("seed", range(3))
def test_every_kind_of_line_gives_the_same_results_in_the_same_order(tmp_path, seed):
    files = [tmp_path / name for name in ("a.jsonl", "missing", "b.jsonl", "empty", "binary", "c.jsonl")]
    for number, path in enumerate(files):
        path.write_text("\n".join(mixed_lines(seed * 10 + number)))
    (tmp_path / "missing").unlink()
    (tmp_path / "empty").write_text("")
    (tmp_path / "binary").write_bytes(b'{"trace_id": "x"\x00}\n' + whole(1).encode())
    names = [str(path) for path in files]
    expected, steps = results_of(TraceScanner(Config()), names)
    assert len(expected) > 100
    assert results_of(ParallelScanner(3, lambda: TraceScanner(Config())), names) == (expected, steps)


def test_a_process_that_is_killed_is_one_clear_error(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(whole(number) for number in range(20)))

    def killed() -> TraceScanner:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    with pytest.raises(InterlockError, match="was killed"):
        list(ParallelScanner(2, killed).scan([str(path)]))


def test_a_scan_that_is_killed_leaves_no_process_behind(tmp_path):
    """Its output ends: whoever holds a copy of the pipe's other end is gone."""
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(whole(number) for number in range(50)))
    source = f"""
import os, signal
from interlock.adapters.traces.parallel import ParallelScanner
from interlock.adapters.traces.scan import TraceScanner
from interlock.config import Config
for _ in ParallelScanner(2, lambda: TraceScanner(Config())).scan([{str(path)!r}]):
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, timeout=120)
    assert done.returncode == -signal.SIGKILL
